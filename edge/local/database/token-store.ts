import { inTransaction, migrate, openState } from '../state.ts';
import { hashToken, makeToken, TOKEN_KINDS, type TokenKind } from './access-token.ts';

/** A resource's name and tables inside the control plane's state. */
export const TOKEN_TABLES = {
  name: 'database',
  migrations: [
    `CREATE TABLE tokens (
       hash TEXT PRIMARY KEY,
       kind TEXT NOT NULL CHECK (kind IN ('full-access', 'read-only')),
       created INTEGER NOT NULL
     ) STRICT`,
  ],
} as const;

/** What is kept of a token. */
export interface KeptToken {
  readonly hash: string;
  readonly kind: TokenKind;
  /** Unix ms UTC. */
  readonly created: number;
}

/** The only moment at which a token itself is known. */
export interface NewToken extends KeptToken {
  readonly token: string;
}

export interface TokenStore {
  /** One new token of each kind; the earlier ones stay valid. */
  generate(): readonly NewToken[];
  /** One new token of each kind; every earlier one is invalid from now on. */
  regenerate(): readonly NewToken[];
  /** Oldest first. */
  list(): readonly KeptToken[];
  /** Null where the token is not, or no longer, valid. */
  find(token: string): KeptToken | null;
  isValid(hash: string): boolean;
  close(): void;
}

/** The tokens in the control plane's state at `dataDir`, also while another process changes them: nothing is remembered between calls. */
export function openTokenStore(dataDir: string, now: () => number): TokenStore {
  const db = openState(dataDir);
  try {
    migrate(db, TOKEN_TABLES);
  } catch (error) {
    db.close();
    throw error;
  }
  const insert = db.prepare('INSERT INTO tokens (hash, kind, created) VALUES (?, ?, ?)');
  const select = db.prepare('SELECT hash, kind, created FROM tokens WHERE hash = ?');
  const selectAll = db.prepare('SELECT hash, kind, created FROM tokens ORDER BY created, kind, hash');

  function add(): readonly NewToken[] {
    return TOKEN_KINDS.map((kind) => {
      const token = makeToken(kind);
      const added = { token, hash: hashToken(token), kind, created: now() };
      insert.run(added.hash, kind, added.created);
      return added;
    });
  }

  return {
    generate: () => inTransaction(db, add),
    regenerate: () =>
      inTransaction(db, () => {
        db.exec('DELETE FROM tokens');
        return add();
      }),
    list: () => selectAll.all() as unknown as readonly KeptToken[],
    find: (token) => (select.get(hashToken(token)) ?? null) as KeptToken | null,
    isValid: (hash) => select.get(hash) !== undefined,
    close: () => db.close(),
  };
}

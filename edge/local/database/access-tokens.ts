import { createHash, randomBytes } from 'node:crypto';
import { EdgeError } from '../../edge-error.ts';
import { inPlaneTransaction, migrate, openState } from '../control-plane-state.ts';

const TOKEN_KINDS = ['full-access', 'read-only'] as const;
type TokenKind = (typeof TOKEN_KINDS)[number];

/**
 * Makes a token of 256 random bits. Its prefix is for people; its rights are kept beside its hash, and enforced by the connection
 * (`session/connection.ts`).
 */
function makeToken(kind: TokenKind): string {
  return `sldb_${kind === 'full-access' ? 'full' : 'read'}_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 in hexadecimal. A random token needs no slower hash. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of an `Authorization: Bearer …` header; null where there is none. */
function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

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

/** A token as it is kept. */
export interface KeptToken {
  readonly hash: string;
  readonly kind: TokenKind;
  /** Unix ms UTC. */
  readonly created: number;
}

/** A new token with its text, which is not kept. */
export interface NewToken extends KeptToken {
  readonly token: string;
}

export interface TokenStore {
  /** Makes a token of each kind. Earlier ones stay valid. */
  generate(): readonly NewToken[];
  /** Makes a token of each kind and invalidates all earlier ones. */
  regenerate(): readonly NewToken[];
  /** Oldest first. */
  list(): readonly KeptToken[];
  /** Null where the token is not valid. */
  find(token: string): KeptToken | null;
  isValid(hash: string): boolean;
  close(): void;
}

/** Opens the tokens in the control plane's state at `dataDir`. Other processes may change them: nothing is cached between calls. */
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
    generate: () => inPlaneTransaction(db, add),
    regenerate: () =>
      inPlaneTransaction(db, () => {
        db.exec('DELETE FROM tokens');
        return add();
      }),
    list: () => selectAll.all() as unknown as readonly KeptToken[],
    find: (token) => (select.get(hashToken(token)) ?? null) as KeptToken | null,
    isValid: (hash) => select.get(hash) !== undefined,
    close: () => db.close(),
  };
}

/** The token of an `Authorization` header. Throws EdgeError 401 where it is missing, unknown or invalidated. */
export function requireToken(authorization: string | undefined, tokens: Pick<TokenStore, 'find'>): KeptToken {
  const token = bearerToken(authorization);
  const kept = token === null ? null : tokens.find(token);
  if (kept !== null) return kept;
  const why =
    token === null ? 'an access token is required: Authorization: Bearer <token>' : 'the access token is not valid, or was invalidated';
  throw new EdgeError(401, token === null ? 'TOKEN_MISSING' : 'TOKEN_INVALID', why, { headers: { 'www-authenticate': 'Bearer' } });
}

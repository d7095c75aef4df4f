import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { FoundHostname } from './hostname-directory.ts';

export const CHALLENGE_MIGRATION = `
  CREATE TABLE http_challenge (
    pull_zone_id INTEGER NOT NULL,
    hostname TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    expires_ms INTEGER NOT NULL,
    PRIMARY KEY (pull_zone_id, hostname)
  ) STRICT;
`;

export const CHALLENGE_FOLDER = '/.well-known/acme-challenge/';

/** Files are put in place by people. */
export const CHALLENGE_LIFETIME_MS = 7 * 86_400_000;

/** An HTTP-01 challenge (RFC 8555, 8.3): who serves `content` at the file of `token` holds the name. */
export interface HttpChallenge {
  readonly token: string;
  readonly content: string;
}

const toChallenge = (row: Readonly<Record<string, unknown>>): HttpChallenge => ({
  token: String(row['token']),
  content: String(row['content']),
});

/** The challenge that the hostname has yet to answer; undefined where there is none, or it has expired. */
export function pendingChallenge(db: DatabaseSync, { pullZoneId, name }: FoundHostname, nowMs: number): HttpChallenge | undefined {
  const row = db
    .prepare('SELECT token, content FROM http_challenge WHERE pull_zone_id = ? AND hostname = ? AND expires_ms > ?')
    .get(pullZoneId, name, nowMs);
  return row === undefined ? undefined : toChallenge(row);
}

/** A new challenge in the place of an expired one. Inside a transaction. */
export function addChallenge(db: DatabaseSync, { pullZoneId, name }: FoundHostname, thumbprint: string, nowMs: number): HttpChallenge {
  const token = randomBytes(32).toString('base64url');
  const content = `${token}.${thumbprint}`;
  db.prepare('INSERT OR REPLACE INTO http_challenge (pull_zone_id, hostname, token, content, expires_ms) VALUES (?, ?, ?, ?, ?)').run(
    pullZoneId,
    name,
    token,
    content,
    nowMs + CHALLENGE_LIFETIME_MS,
  );
  return { token, content };
}

/** Ends a challenge; false where it was no longer there. Inside a transaction. */
export function removeChallenge(db: DatabaseSync, { token }: HttpChallenge): boolean {
  return db.prepare('DELETE FROM http_challenge WHERE token = ?').run(token).changes === 1;
}

/** What the local control plane itself serves as the file of a token; undefined: no such file. */
export function servedContent(db: DatabaseSync, token: string, nowMs: number): string | undefined {
  const row = db.prepare('SELECT token, content FROM http_challenge WHERE token = ? AND expires_ms > ?').get(token, nowMs);
  return row === undefined ? undefined : toChallenge(row).content;
}

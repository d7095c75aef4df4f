import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import type { Hostname } from '../pull-zones.ts';

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

/** A challenge is valid for days, because people put its file on their web server by hand. */
export const CHALLENGE_LIFETIME_MS = 7 * 86_400_000;

/** An HTTP-01 challenge (RFC 8555, 8.3): who serves `content` at the file of `token` has the name. */
interface HttpChallenge {
  readonly token: string;
  readonly content: string;
}

const toChallenge = (row: Readonly<Record<string, unknown>>): HttpChallenge => ({
  token: String(row['token']),
  content: String(row['content']),
});

/** The open challenge of the hostname; undefined where there is none or it has expired. */
export function pendingChallenge(db: DatabaseSync, { pullZoneId, name }: Hostname, nowMs: number): HttpChallenge | undefined {
  const row = db
    .prepare('SELECT token, content FROM http_challenge WHERE pull_zone_id = ? AND hostname = ? AND expires_ms > ?')
    .get(pullZoneId, name, nowMs);
  return row === undefined ? undefined : toChallenge(row);
}

/** Adds a challenge and removes an expired one. Call it inside a transaction. */
export function addChallenge(db: DatabaseSync, { pullZoneId, name }: Hostname, thumbprint: string, nowMs: number): HttpChallenge {
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

/** Removes a challenge. Returns false where it was gone already. Call it inside a transaction. */
export function removeChallenge(db: DatabaseSync, { token }: HttpChallenge): boolean {
  return db.prepare('DELETE FROM http_challenge WHERE token = ?').run(token).changes === 1;
}

/** The file of a token that the local control plane serves; undefined where there is none. */
export function servedContent(db: DatabaseSync, token: string, nowMs: number): string | undefined {
  const row = db.prepare('SELECT token, content FROM http_challenge WHERE token = ? AND expires_ms > ?').get(token, nowMs);
  return row === undefined ? undefined : toChallenge(row).content;
}

/** The answer of the challenge's URL. `reason` is shown to the caller and holds no address. */
type ChallengeAnswer = { readonly kind: 'content'; readonly content: string } | { readonly kind: 'nothing'; readonly reason: string };

/** Reads the file at `filePath` as `hostname` serves it. An unreachable host is an answer; only defects reject. */
export type ChallengeResolver = (hostname: string, filePath: string) => Promise<ChallengeAnswer>;

/** A key authorization has 87 characters. */
export const MAX_CHALLENGE_BYTES = 1_024;

interface HttpResolverOptions {
  /** The web server that is asked for every hostname, such as `http://127.0.0.1:8081`. The names are never resolved. */
  readonly url: string;
  /** From the start to the last byte, in milliseconds. */
  readonly deadlineMs: number;
}

const nothing = (reason: string): ChallengeAnswer => ({ kind: 'nothing', reason });

/**
 * Asks one configured web server for every hostname, with the hostname in `Host`, as HTTP-01 does over port 80. Redirects are not followed.
 * Throws where the address is not an http one.
 */
export function httpChallengeResolver({ url, deadlineMs }: HttpResolverOptions): ChallengeResolver {
  const base = URL.parse(url);
  if (base?.protocol !== 'http:') throw new TypeError(`The challenge resolver's address is "${url}"; allowed: an http:// address`);
  return (hostname, filePath) =>
    new Promise((resolve) => {
      const signal = AbortSignal.timeout(deadlineMs);
      const asked = request(new URL(filePath, base), { headers: { host: hostname }, agent: false, signal }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes <= MAX_CHALLENGE_BYTES) return;
          resolve(nothing(`the file has more than ${MAX_CHALLENGE_BYTES} bytes`));
          asked.destroy();
        });
        response.on('end', () => {
          if (response.statusCode === 200) resolve({ kind: 'content', content: Buffer.concat(chunks).toString('utf8') });
          else resolve(nothing(`it was answered with the status ${response.statusCode}`));
        });
        response.on('error', () => resolve(nothing('the answer broke off')));
      });
      // Node hands over the connection of such an answer, and ends without an error where nobody takes it.
      asked.on('upgrade', ({ statusCode }, socket) => {
        socket.destroy();
        resolve(nothing(`it was answered with the status ${statusCode}`));
      });
      asked.on('error', () =>
        resolve(nothing(signal.aborted ? `there was no whole answer within ${deadlineMs} ms` : 'there was no answer')),
      );
      asked.end();
    });
}

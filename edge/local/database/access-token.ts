import { createHash, randomBytes } from 'node:crypto';

export const TOKEN_KINDS = ['full-access', 'read-only'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** A new token: 256 random bits. What it begins with is for people; what it may do is kept beside its hash. */
export function makeToken(kind: TokenKind): string {
  return `sldb_${kind === 'full-access' ? 'full' : 'read'}_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a token: SHA-256, in hexadecimal. A token is random enough that no slower hash is needed. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of an `Authorization: Bearer …` header; null where there is none. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

import { EdgeError } from '../../edge-error.ts';
import { bearerToken } from './access-token.ts';
import type { KeptToken, TokenStore } from './token-store.ts';

/** What is kept of the token in an `Authorization` header. Throws EdgeError 401 where it is missing, unknown or invalidated. */
export function requireToken(authorization: string | undefined, tokens: Pick<TokenStore, 'find'>): KeptToken {
  const token = bearerToken(authorization);
  const kept = token === null ? null : tokens.find(token);
  if (kept !== null) return kept;
  const why =
    token === null ? 'an access token is required: Authorization: Bearer <token>' : 'the access token is not valid, or was invalidated';
  throw new EdgeError(401, token === null ? 'TOKEN_MISSING' : 'TOKEN_INVALID', why, { headers: { 'www-authenticate': 'Bearer' } });
}

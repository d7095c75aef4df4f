import { EdgeError } from './edge-error.ts';

/** The upstream took longer than the operation's deadline. */
export class UpstreamTooSlow extends Error {
  override readonly name = 'UpstreamTooSlow';
}

/** The upstream's answer is one that is not handed on. */
export class UpstreamUnusable extends Error {
  override readonly name = 'UpstreamUnusable';
}

const TOO_SLOW: ReadonlySet<unknown> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** The connection broke while it was in use: a kept one that the upstream had closed meanwhile, for one. */
const BROKEN: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function codes(error: unknown): unknown[] {
  const found: unknown[] = [];
  let at = error;
  // Causes could go in circles.
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    found.push((at as NodeJS.ErrnoException).code);
    at = at.cause;
  }
  return found;
}

export function isBrokenConnection(error: unknown): boolean {
  return codes(error).some((code) => BROKEN.has(code));
}

/**
 * What a caller is told when the upstream failed: 504 where it was too slow, 502 otherwise. Says nothing of who the upstream is; the cause is
 * for the log.
 */
export function upstreamFailure(error: unknown): EdgeError {
  if (error instanceof UpstreamTooSlow || codes(error).some((code) => TOO_SLOW.has(code))) {
    return new EdgeError(504, 'upstream.too_slow', 'The upstream did not answer in time', { cause: error });
  }
  if (error instanceof UpstreamUnusable) return new EdgeError(502, 'upstream.unusable', error.message, { cause: error });
  return new EdgeError(502, 'upstream.unreachable', 'The upstream could not be reached, or did not speak HTTP', { cause: error });
}

import { callerHungUp, EdgeError } from '../edge-error.ts';

/** What the proxies themselves find wrong with a call. */
type FaultCode =
  /** The upstream took longer than the operation's deadline. */
  | 'UPSTREAM_TOO_SLOW'
  /** The upstream's answer must not be passed on. */
  | 'UPSTREAM_UNUSABLE'
  /** There is no room for another answer at the moment. */
  | 'NO_ROOM_FOR_ANSWER'
  /** The caller closed the connection. */
  | 'CALLER_GONE';

export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const TOO_SLOW: ReadonlySet<unknown> = new Set([
  'UPSTREAM_TOO_SLOW' satisfies FaultCode,
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/** The connection broke while it was in use, such as a kept one that the upstream had closed. */
const BROKEN: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** An error and its causes, outermost first. */
function* causesOf(error: unknown): Generator<Error> {
  let at = error;
  // Causes could form a circle.
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    yield at;
    at = at.cause;
  }
}

/** The codes of an error and of its causes, outermost first. */
function errorCodes(error: unknown): readonly string[] {
  return [...causesOf(error)].flatMap((cause) => {
    const { code } = cause as NodeJS.ErrnoException;
    return [...(cause instanceof UpstreamCallFailed ? cause.codes : []), ...(typeof code === 'string' ? [code] : [])];
  });
}

/**
 * A request to an upstream failed. Only the codes are kept: the message and the properties of the error would tell names, addresses and
 * bytes of the upstream to readers of the log.
 */
export class UpstreamCallFailed extends Error {
  override readonly name = 'UpstreamCallFailed';
  readonly codes: readonly string[];
  /** Whether there was a connection, so that the upstream may have had the request. */
  readonly wasConnected: boolean;

  constructor(operation: string, error: Error, wasConnected: boolean) {
    const codes = errorCodes(error);
    super(`${operation}: ${codes.length === 0 ? error.name : codes.join(', ')}`);
    this.codes = codes;
    this.wasConnected = wasConnected;
    // The stack tells nothing, and is logged for every caller that goes away.
    this.stack = `${this.name}: ${this.message}`;
  }
}

export function isBrokenConnection(error: unknown): boolean {
  return errorCodes(error).some((code) => BROKEN.has(code));
}

/** Ends a message about a call that may have reached the upstream: to repeat it could do the same thing twice. */
const MAY_BE_DONE = '; the call may have been carried out';

/** The caller's error for a failed upstream: 504 where it was too slow, 502 otherwise. It does not tell which upstream it is. */
export function upstreamFailure(error: unknown): EdgeError {
  const codes = errorCodes(error);
  if (codes.includes('CALLER_GONE')) return callerHungUp();
  const fault = error instanceof UpstreamFault ? error.code : undefined;
  if (fault === 'NO_ROOM_FOR_ANSWER') {
    return new EdgeError(503, 'proxy.busy', `${(error as Error).message}${MAY_BE_DONE}`, { headers: { 'retry-after': '1' } });
  }
  const isUnsent = [...causesOf(error)].some((cause) => cause instanceof UpstreamCallFailed && !cause.wasConnected);
  const ending = isUnsent ? '' : MAY_BE_DONE;
  if (codes.some((code) => TOO_SLOW.has(code))) {
    return new EdgeError(504, 'upstream.too_slow', `The upstream did not answer in time${ending}`, { cause: error });
  }
  if (fault === 'UPSTREAM_UNUSABLE') {
    return new EdgeError(502, 'upstream.unusable', `${(error as Error).message}${ending}`, { cause: error });
  }
  const message = isUnsent
    ? 'The upstream could not be reached'
    : `The connection to the upstream broke, or it did not speak HTTP${ending}`;
  return new EdgeError(502, 'upstream.unreachable', message, { cause: error });
}

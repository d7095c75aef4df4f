import { AlertStateError } from '../../alerts/evaluation/alert-state.ts';
import { ThreadsBusy } from '../../ingest/upload/intake-report.ts';
import { type FieldError, InvalidSearchError } from '../../query/request/request-errors.ts';
import { StoreError, type StoreErrorCode } from '../../store/store-error.ts';
import { ThreadEnded } from '../../work/worker-pool.ts';
import { DeadlinePassed } from './interruption.ts';

/** The problems of requests by their `errorKey`, each with its status and title. */
export const PROBLEMS = {
  'request.malformed': { status: 400, title: 'The request is malformed' },
  'request.invalid': { status: 400, title: 'The request is invalid' },
  'access.key_missing': { status: 401, title: 'An access key is needed' },
  'access.key_unknown': { status: 401, title: 'The access key is not known' },
  'access.zone_denied': { status: 403, title: 'The access key does not open this zone' },
  'access.scope_denied': { status: 403, title: 'The access key does not have the scope' },
  'access.foreign_page': { status: 403, title: 'Requests of web pages elsewhere are not answered' },
  'route.not_found': { status: 404, title: 'There is nothing at this path' },
  'route.method_not_allowed': { status: 405, title: 'The path does not have this method' },
  'accept.none': { status: 406, title: 'No acceptable content type' },
  'request.timeout': { status: 408, title: 'The request took too long to arrive' },
  'backtest.refused': { status: 409, title: 'The rule is not tried' },
  'backup.refused': { status: 409, title: 'The backup is not made' },
  'check.refused': { status: 409, title: 'The files are not checked' },
  'kafka.rewind_refused': { status: 409, title: 'The topic is not read again' },
  'kafka.skip_refused': { status: 409, title: 'The batch is not skipped' },
  // Not for uploads of events, which stream: one that is too long ends with request.malformed, after what came before is stored.
  'body.too_large': { status: 413, title: 'The request body is too large' },
  'body.unsupported_type': { status: 415, title: 'The content type is not supported' },
  'feed.cursor_ahead': { status: 416, title: 'The cursor is ahead of the feed' },
  'feed.cursor_expired': { status: 416, title: 'Events behind the cursor are past the retention' },
  'expect.unsupported': { status: 417, title: 'The expectation cannot be met' },
  'caller.busy': { status: 429, title: 'Too many requests of this caller wait' },
  'header.too_large': { status: 431, title: 'The request headers are too large' },
  'route.not_implemented': { status: 501, title: 'This operation of the platform is not here' },
  'search.deadline': { status: 503, title: 'The search took too long' },
  'store.append_failed': { status: 503, title: 'The events could not be stored' },
  'store.busy': { status: 503, title: 'The store is busy' },
  'store.unavailable': { status: 503, title: 'The store cannot be reached' },
  'tail.full': { status: 503, title: 'There are too many live tails' },
  'program.stopping': { status: 503, title: 'The program is stopping' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ErrorKey = keyof typeof PROBLEMS;

interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Headers of the answer, such as `allow` or `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly members?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A request that cannot be fulfilled, answered with ProblemDetails. The message becomes its `detail`. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly errorKey: ErrorKey;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;

  constructor(errorKey: ErrorKey, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.errorKey = errorKey;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }

  get status(): number {
    return PROBLEMS[this.errorKey].status;
  }
}

/** The problem that names everything that is wrong with a request. `errors` has at least one entry. */
export function invalidRequest(errors: readonly FieldError[], cause?: unknown): RequestProblem {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = first === undefined ? 'The request is invalid' : `${first.field}: ${first.message}${more}`;
  return new RequestProblem('request.invalid', detail, { errors, cause });
}

/** Compiles a request. An InvalidSearchError becomes RequestProblem `request.invalid` with all of its faults. */
export function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    throw invalidRequest(error.errors, error);
  }
}

/** The URIs of `type`, which explain a problem by its status (RFC 9457). */
const STATUS_DEFINITIONS: Readonly<Record<number, string>> = {
  400: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1',
  401: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2',
  403: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4',
  404: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
  405: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6',
  406: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.7',
  408: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9',
  409: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.10',
  413: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14',
  415: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16',
  416: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.17',
  417: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.18',
  429: 'https://www.rfc-editor.org/rfc/rfc6585#section-4',
  431: 'https://www.rfc-editor.org/rfc/rfc6585#section-5',
  501: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.6.2',
  503: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.6.4',
};

export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

/** The ProblemDetails body (RFC 9457) of a problem at `instance`, the request's path. */
export function problemBody(problem: RequestProblem, instance: string | null): string {
  const { status, title } = PROBLEMS[problem.errorKey];
  return JSON.stringify({
    type: STATUS_DEFINITIONS[status] ?? 'about:blank',
    title,
    status,
    detail: problem.message,
    instance,
    errorKey: problem.errorKey,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.members,
  });
}

/**
 * Returns the problem for an error of a reading: `search.deadline` where its deadline passed, and otherwise that of `asStoreProblem`.
 * `what` says which reading was interrupted, `advice` what the caller can do.
 */
export function asReadProblem(error: unknown, what: string, advice: string): unknown {
  if (!(error instanceof DeadlinePassed)) return asStoreProblem(error);
  return new RequestProblem('search.deadline', `${what}: ${error.message}; ${advice}`, { headers: { 'retry-after': '5' }, cause: error });
}

interface StoreProblem {
  readonly errorKey: ErrorKey;
  readonly detail: string;
  readonly retryAfterS?: number;
}

/**
 * What callers are told of an error of the store. The error's own message is for the operator: it may hold paths, addresses, names of users
 * and words of the system or of ClickHouse, and goes to the log. An error of another code is a defect.
 */
export const STORE_PROBLEMS = {
  overloaded: {
    errorKey: 'store.busy',
    detail: 'The store has too much to do, or too little memory for this; try again later, or ask for less, such as a shorter window',
    retryAfterS: 1,
  },
  unavailable: {
    errorKey: 'store.unavailable',
    detail: 'The database that the program stores its events in does not answer, or refuses the program; try again later',
    retryAfterS: 5,
  },
  closed: { errorKey: 'program.stopping', detail: 'The program is stopping; try again when it is back', retryAfterS: 5 },
  append_failed: {
    errorKey: 'store.append_failed',
    detail: 'The events could not be stored; sending everything again stores nothing twice',
    retryAfterS: 5,
  },
  backup_failed: { errorKey: 'backup.refused', detail: 'The files of the store cannot be copied; the log of the program says why' },
  backup_taken: { errorKey: 'backup.refused', detail: 'another backup is under way; begin this one when it has ended' },
  backup_elsewhere: {
    errorKey: 'backup.refused',
    detail: "the events are in ClickHouse: back it up with ClickHouse's own BACKUP statement or a tool for that",
  },
} as const satisfies Partial<Record<StoreErrorCode, StoreProblem>>;

/** Returns the problem for an error of the store, of the state of alerts, or of a thread that ended; any other comes back as it is. */
export function asStoreProblem(error: unknown): unknown {
  if (error instanceof ThreadsBusy) {
    const detail = 'The records of too many requests are being mapped; try again later';
    return new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' }, cause: error });
  }
  if (error instanceof ThreadEnded) {
    const detail = 'A thread of the program ended while it worked for this request; try again later';
    return new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' }, cause: error });
  }
  if (error instanceof AlertStateError) {
    return new RequestProblem('store.unavailable', error.message, { headers: { 'retry-after': '5' }, cause: error });
  }
  if (!(error instanceof StoreError)) return error;
  const told = (STORE_PROBLEMS as Partial<Record<StoreErrorCode, StoreProblem>>)[error.code];
  if (told === undefined) return error;
  const headers = told.retryAfterS === undefined ? {} : { 'retry-after': String(told.retryAfterS) };
  return new RequestProblem(told.errorKey, told.detail, { headers, cause: error });
}

/** What can be wrong with a request, by `errorKey`: the status it is answered with and its title. */
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
  'body.too_large': { status: 413, title: 'The request body is too large' },
  'body.unsupported_type': { status: 415, title: 'The content type is not supported' },
  'feed.cursor_expired': { status: 416, title: 'Events behind the cursor are past the retention' },
  'expect.unsupported': { status: 417, title: 'The expectation cannot be met' },
  'header.too_large': { status: 431, title: 'The request headers are too large' },
  'search.deadline': { status: 503, title: 'The search took too long' },
  'store.append_failed': { status: 503, title: 'The events could not be stored' },
  'store.busy': { status: 503, title: 'The store is busy' },
  'tail.full': { status: 503, title: 'There are too many live tails' },
  'program.stopping': { status: 503, title: 'The program is stopping' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ErrorKey = keyof typeof PROBLEMS;

/** One thing wrong with the body; `field` is its JSON path, the message names the value and what is allowed. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Response headers, such as `allow` or `retry-after`. */
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

/** Where the statuses are defined; RFC 9457 wants `type` to be a URI that explains the problem. */
const STATUS_DEFINITIONS: Readonly<Record<number, string>> = {
  400: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.1',
  401: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2',
  403: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4',
  404: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
  405: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6',
  406: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.7',
  408: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9',
  413: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14',
  415: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16',
  416: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.17',
  417: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.18',
  431: 'https://www.rfc-editor.org/rfc/rfc6585#section-5',
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

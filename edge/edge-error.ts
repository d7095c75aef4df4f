/** One fault of a request. `field` is its path; the message names the value and what is allowed. */
export interface EdgeFieldError {
  readonly field: string;
  readonly message: string;
}

export interface EdgeErrorOptions {
  /** The wrong field, for shapes that name one. */
  readonly field?: string;
  /** All wrong fields, for shapes that list them. Absent: made of `field` and the message. */
  readonly errors?: readonly EdgeFieldError[];
  /** Headers of the answer, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * A request that cannot be fulfilled, answered with `status` in the shape of its operation. Callers see the message and the fields, so
 * these hold no secret and no address of an upstream.
 */
export class EdgeError extends Error {
  override readonly name = 'EdgeError';
  readonly status: number;
  /** For programs, such as `dnszone.name_taken`. */
  readonly key: string;
  readonly field: string | undefined;
  readonly errors: readonly EdgeFieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, key: string, message: string, options: EdgeErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.key = key;
    this.field = options.field;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

/** nginx's status for clients that closed the connection. Nobody reads it. */
export const CLIENT_CLOSED = 499;

/** The error of a request whose caller closed the connection. */
export function callerHungUp(cause?: unknown): EdgeError {
  return new EdgeError(CLIENT_CLOSED, 'request.hung_up', 'The caller closed the connection', { cause });
}

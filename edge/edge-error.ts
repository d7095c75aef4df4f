/** One thing wrong with a request; `field` is its place, the message names the value and what is allowed. */
export interface EdgeFieldError {
  readonly field: string;
  readonly message: string;
}

export interface EdgeErrorOptions {
  /** The one field that is wrong, for shapes that name one. */
  readonly field?: string;
  /** Every field that is wrong, for shapes that list them; absent: made of `field` and the message. */
  readonly errors?: readonly EdgeFieldError[];
  /** Response headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * A request that cannot be fulfilled, answered with `status` in the shape of its operation. The message and the fields are shown to the
 * caller: they hold no secret and no address of an upstream.
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

/** One thing that is wrong with a search request. */
export interface FieldError {
  /** The JSON path of the value, such as `filters[0].value[2]`; the body itself is `$`. Never empty. */
  readonly field: string;
  /** What is allowed there and what was found. */
  readonly message: string;
}

/** A search request that cannot be answered; `errors` has everything that is wrong with it, at least one entry. */
export class InvalidSearchError extends Error {
  override readonly name = 'InvalidSearchError';
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super(errors.map(({ field, message }) => `${field} ${message}`).join('; '));
    this.errors = errors;
  }
}

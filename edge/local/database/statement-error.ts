/** A request of a stream that failed; the others beside it go on. The code is the protocol's, or SQLite's own (`SQLITE_…`). */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly code: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The JSON text of an error inside a result. */
export function errorJson({ message, code }: { readonly message: string; readonly code: string }): string {
  return JSON.stringify({ message, code });
}

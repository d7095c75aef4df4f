import type { StatementError } from '../statement-error.ts';

/** A Read Only connection was asked for more than reading: the whole request is refused, not only the statement. */
export class ForbiddenWrite extends Error {
  override readonly name = 'ForbiddenWrite';
  readonly code: string;

  constructor(error: StatementError) {
    super(`a Read Only token may only read: ${error.message}`, { cause: error });
    this.code = error.code;
  }
}

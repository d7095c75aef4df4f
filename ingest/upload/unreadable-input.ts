import type { IntakeErrorCode } from './intake-error.ts';

/** Thrown by what reads an input when it makes no sense from some place on. */
export class UnreadableInput extends Error {
  readonly code: IntakeErrorCode;

  constructor(code: IntakeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableInput';
    this.code = code;
  }
}

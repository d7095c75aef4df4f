import type { IntakeReport } from './intake-report.ts';

/** Why an intake stopped before the end of its input. */
export const INTAKE_ERROR_CODES = ['corrupt_input', 'too_many_rejected', 'input_too_long', 'unclosed_array', 'source_failed'] as const;

export type IntakeErrorCode = (typeof INTAKE_ERROR_CODES)[number];

/**
 * The input could not be read to its end. What came before is stored: `report` counts it. Sending the whole input again is safe, because
 * the same event is stored once.
 */
export class IntakeError extends Error {
  readonly code: IntakeErrorCode;
  readonly report: IntakeReport;

  constructor(code: IntakeErrorCode, what: string, report: IntakeReport, options?: ErrorOptions) {
    const { accepted, expired, rejected, rejectedCount } = report;
    const lost = rejected.filter(({ kept }) => kept === false).length;
    const ofThem = lost === 0 ? '' : `, of which ${lost} are not kept as dead letters`;
    super(`${what}; before that ${accepted} events were stored, ${expired} had expired, ${rejectedCount} were rejected${ofThem}`, options);
    this.name = 'IntakeError';
    this.code = code;
    this.report = report;
  }
}

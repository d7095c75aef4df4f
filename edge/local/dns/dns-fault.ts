import { EdgeError } from '../../edge-error.ts';

const SHOWN_LENGTH = 100;

/** A value as it is shown in a message, cut where it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}

/** A zone that cannot be made; `field` is the place in the body, such as `Records[3].Value`. */
export function zoneFault(field: string, message: string): EdgeError {
  return new EdgeError(400, field.startsWith('Records') ? 'dnszone.record_invalid' : 'dnszone.invalid', `${field}: ${message}`, { field });
}

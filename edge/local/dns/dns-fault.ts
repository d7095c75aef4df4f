import { EdgeError } from '../../edge-error.ts';

/** A zone that cannot be made; `field` is the place in the body, such as `Records[3].Value`. */
export function zoneFault(field: string, message: string): EdgeError {
  return new EdgeError(400, field.startsWith('Records') ? 'dnszone.record_invalid' : 'dnszone.invalid', `${field}: ${message}`, { field });
}

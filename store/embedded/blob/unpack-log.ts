import type { TextField } from '../../../query/event-fields.ts';
import { markOf, PACKED_FIELDS } from '../../../query/packed-log.ts';

/** The log of an event with these fields, as it was before it was packed. */
export function unpackLog(packed: string, fields: Readonly<Partial<Record<TextField, string>>>): string {
  return PACKED_FIELDS.reduceRight((log, name, index) => log.replaceAll(markOf(index), () => fields[name] ?? ''), packed);
}

import { isBlank, OPEN_BRACE } from '../../query/json-bytes.ts';
import type { EnvelopeFault, TakenApart } from './envelope.ts';
import { RecordWriter } from './record-writer.ts';

/** Thrown for a request of OTLP that is broken, with the place and what is there. */
export class BrokenOtlp extends Error {
  override readonly name = 'BrokenOtlp';
}

/** Takes a request of OTLP in a format apart, by `write`, which may throw BrokenOtlp. */
export function takeOtlp(body: Buffer, format: string, write: (records: RecordWriter) => void): TakenApart | EnvelopeFault {
  const records = new RecordWriter(body.length);
  try {
    write(records);
  } catch (error) {
    if (!(error instanceof BrokenOtlp)) throw error;
    const { count: index } = records;
    return { kind: 'fault', index, reason: `log record ${index}: the body is no ${format} of OTLP's logs: ${error.message}` };
  }
  return records.taken();
}

/** So many levels of values inside one another are written as JSON. What is deeper is kept as a text. */
export const MOST_VALUE_LEVELS = 32;

/** What a body is: a text that begins as JSON of an object does, a list of keys and values, anything else, or nothing. */
type BodyKind = 'object' | 'list' | 'other' | 'nothing';

/** What a body that is a text, or bytes, is. */
export function textKind(bytes: Uint8Array, start: number, end: number): BodyKind {
  let at = start;
  while (at < end && isBlank(bytes[at])) at++;
  if (at < end && bytes[at] === OPEN_BRACE) return 'object';
  return start === end ? 'nothing' : 'other';
}

/** Whether a body is all of the record. Otherwise the attributes are, with the body beside them where it is anything. */
export function isWholeRecord(body: BodyKind, hasAttributes: boolean): boolean {
  return body === 'object' || body === 'list' || (body === 'other' && !hasAttributes);
}

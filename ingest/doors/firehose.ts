import { gunzipSync } from 'node:zlib';
import { GatheredBytes } from '../event/gathered-bytes.ts';
import { beginsGzipMember } from '../upload/gzip-members.ts';
import { type EnvelopeFault, MOST_ENVELOPE_BYTES, RecordPlaces, type TakenApart } from './envelope.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** What a subscription of CloudWatch Logs has its lines in. */
const LOG_EVENTS = '"logEvents"';

/**
 * Takes a request of Amazon Data Firehose apart, `{"records":[{"data":BASE64}]}`. The data are one or more lines, each of which is a
 * record, as they are or in gzip; or what CloudWatch Logs sends to its subscriptions, whose records are the messages of `logEvents`.
 */
export function takeFirehose(body: Buffer): TakenApart | EnvelopeFault {
  const items = itemsIn(body);
  if (!Array.isArray(items)) return fault(null, 'the body is not {"records":[{"data":"…"}]}: a JSON object with such a list is required');
  const gathered = new GatheredBytes();
  /** Where each piece of the bytes ends, and whether it has lines. */
  const pieces: { readonly end: number; readonly areLines: boolean }[] = [];
  const add = (bytes: Uint8Array, areLines: boolean): void => {
    gathered.add(bytes, MOST_ENVELOPE_BYTES);
    pieces.push({ end: gathered.length, areLines });
  };
  for (const [index, item] of items.entries()) {
    const { data } = (item ?? {}) as { readonly data?: unknown };
    if (typeof data !== 'string' || !BASE64.test(data)) return fault(index, `"data" of the record ${index} is no base64`);
    const bytes = unpacked(Buffer.from(data, 'base64'), MOST_ENVELOPE_BYTES - gathered.length);
    if (bytes === 'too large') {
      return {
        ...fault(index, `the records up to ${index} have more than ${MOST_ENVELOPE_BYTES} bytes unpacked, which are allowed`),
        isTooLarge: true,
      };
    }
    if (bytes === 'damaged') return fault(index, `"data" of the record ${index} is gzip that is damaged or cut off`);
    const messages = messagesIn(bytes);
    if (messages === null) add(bytes, true);
    else for (const message of messages) add(Buffer.from(message), false);
  }
  const bytes = gathered.take();
  const places = new RecordPlaces(bytes);
  let start = 0;
  for (const { end, areLines } of pieces) {
    if (areLines) places.addLines(start, end);
    else places.add(start, end);
    start = end;
  }
  return places.taken();
}

/** `records` of the body; undefined where it has none. */
function itemsIn(body: Buffer): unknown {
  try {
    const request = JSON.parse(body.toString('utf8', 0, body.length - 1)) as { readonly records?: unknown } | null;
    return request?.records;
  } catch {
    return undefined;
  }
}

function unpacked(bytes: Buffer, mostBytes: number): Buffer | 'too large' | 'damaged' {
  try {
    const found = beginsGzipMember(bytes) ? gunzipSync(bytes, { maxOutputLength: Math.max(1, mostBytes) }) : bytes;
    return found.length > mostBytes ? 'too large' : found;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'damaged';
  }
}

/** The messages of what CloudWatch Logs sends, none of a message by which it tries whether anybody is there; null for anything else. */
function messagesIn(bytes: Buffer): readonly string[] | null {
  if (!bytes.includes(LOG_EVENTS)) return null;
  try {
    const { messageType, logEvents } = JSON.parse(bytes.toString()) as { readonly messageType?: unknown; readonly logEvents?: unknown };
    if (typeof messageType !== 'string' || !Array.isArray(logEvents)) return null;
    return messageType === 'CONTROL_MESSAGE'
      ? []
      : logEvents.map((event) => String((event as { readonly message?: unknown } | null)?.message));
  } catch {
    return null;
  }
}

function fault(index: number | null, reason: string): EnvelopeFault {
  return { kind: 'fault', index, reason };
}

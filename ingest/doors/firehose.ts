import { gunzipSync } from 'node:zlib';
import { OPEN_BRACE } from '../../query/json-bytes.ts';
import { GatheredBytes } from '../event/gathered-bytes.ts';
import { JsonSkipper, type MemberRange } from '../event/json-skipper.ts';
import { beginsGzip } from '../mapping/decode-steps.ts';
import { decodedBase64, type EnvelopeFault, MOST_ENVELOPE_BYTES, RecordPlaces, type TakenApart } from './envelope.ts';
import { forEachElement, NamedMembers } from './named-members.ts';

/** So many records a request may have: a buffer of 16 MiB has fewer, unless they are tiny. */
export const MOST_FIREHOSE_RECORDS = 100_000;
const NUL = Uint8Array.of(0);
/** What is wrong with the data of a record. */
const FAULTS = {
  'no base64': 'there is no base64 in "data" of',
  damaged: 'there is gzip that is damaged or cut off in "data" of',
  'too large': `more than ${MOST_ENVELOPE_BYTES} bytes unpacked, which are allowed, are in the records up to`,
} as const;
/** What a subscription of CloudWatch Logs has its lines in. */
const LOG_EVENTS = '"logEvents"';

/**
 * Takes a request of Amazon Data Firehose apart, `{"records":[{"data":BASE64}]}`. The data are one or more lines, each of which is a
 * record, as they are or in gzip; or what CloudWatch Logs sends to its subscriptions, whose records are the messages of `logEvents`.
 */
export function takeFirehose(body: Buffer): TakenApart | EnvelopeFault {
  const skipper = new JsonSkipper();
  const listAt = listOfRecords(skipper, body);
  if (listAt < 0) return fault(null, 'the body is not {"records":[{"data":"…"}]}: a JSON object with such a list is required');
  const gathered = new GatheredBytes();
  /** Where each piece of the bytes ends; behind it is a NUL. */
  const ends: number[] = [];
  let [index, wrong]: [number, EnvelopeFault | null] = [0, null];
  forEachElement(skipper, body, listAt, ['data'], (members) => {
    if (index === MOST_FIREHOSE_RECORDS) {
      wrong = { ...fault(index, `at most ${MOST_FIREHOSE_RECORDS} records are allowed in one request`), isTooLarge: true };
      return false;
    }
    const bytes = unpacked(bytesOf(body, members.get('data')), MOST_ENVELOPE_BYTES - gathered.length - 1);
    if (typeof bytes === 'string') {
      wrong = { ...fault(index, `${FAULTS[bytes]} the record ${index}`), ...(bytes === 'too large' ? { isTooLarge: true } : {}) };
    } else if (bytes.length > 0) {
      gathered.add(bytes, MOST_ENVELOPE_BYTES);
      ends.push(gathered.length);
      gathered.add(NUL, MOST_ENVELOPE_BYTES);
    }
    index++;
    return wrong === null;
  });
  if (wrong !== null) return wrong;
  const bytes = gathered.take();
  const places = new RecordPlaces(bytes);
  let start = 0;
  for (const end of ends) {
    if (!addMessages(places, skipper, bytes, start, end)) places.addLines(start, end);
    start = end + 1;
  }
  return places.taken();
}

/** Where the list of the body's `records` begins; -1 where it has none. */
function listOfRecords(skipper: JsonSkipper, body: Buffer): number {
  const members = new NamedMembers(body, 'records');
  const start = skipper.skipBlank(body, 0);
  const end = body[start] === OPEN_BRACE ? skipper.skipObject(body, start, 0, members) : -1;
  const records = members.get('records');
  const isWhole = end >= 0 && skipper.skipBlank(body, end) === body.length - 1;
  return isWhole && records?.kind === 'array' ? records.valueStart : -1;
}

/** What `data` stands for; null where it is no base64. */
function bytesOf(body: Buffer, data: MemberRange | undefined): Buffer | null {
  if (data?.kind !== 'string') return null;
  const { valueStart, valueEnd, valueHasEscapes } = data;
  if (!valueHasEscapes) return decodedBase64(body.toString('latin1', valueStart + 1, valueEnd - 1));
  return decodedBase64(String(JSON.parse(body.toString('latin1', valueStart, valueEnd))));
}

function unpacked(bytes: Buffer | null, mostBytes: number): Buffer | keyof typeof FAULTS {
  if (bytes === null) return 'no base64';
  try {
    const found = beginsGzip(bytes) ? gunzipSync(bytes, { maxOutputLength: Math.max(1, mostBytes) }) : bytes;
    return found.length > mostBytes ? 'too large' : found;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'damaged';
  }
}

/**
 * Adds the messages of what CloudWatch Logs sends, none of a message by which it tries whether anybody is there. False where the piece is
 * anything else.
 */
function addMessages(places: RecordPlaces, skipper: JsonSkipper, bytes: Buffer, start: number, end: number): boolean {
  if (!bytes.subarray(start, end).includes(LOG_EVENTS)) return false;
  const members = new NamedMembers(bytes, 'messageType', 'logEvents');
  const at = skipper.skipBlank(bytes, start);
  const behind = bytes[at] === OPEN_BRACE ? skipper.skipObject(bytes, at, 0, members) : -1;
  const [type, events] = [members.get('messageType'), members.get('logEvents')];
  const isWhole = behind >= 0 && skipper.skipBlank(bytes, behind) === end;
  if (!isWhole || type?.kind !== 'string' || events?.kind !== 'array') return false;
  if (bytes.toString('utf8', type.valueStart + 1, type.valueEnd - 1) === 'CONTROL_MESSAGE') return true;
  forEachElement(skipper, bytes, events.valueStart, ['message'], (ofEvent, from, to) => {
    const message = ofEvent.get('message');
    if (message?.kind !== 'string') places.add(from, to);
    else places.addText(message.valueStart, message.valueEnd, message.valueHasEscapes);
    return true;
  });
  return true;
}

function fault(index: number | null, reason: string): EnvelopeFault {
  return { kind: 'fault', index, reason };
}

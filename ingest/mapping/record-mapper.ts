import { CLOSE_BRACE, isBlank } from '../../query/json-bytes.ts';
import { kindOf, memberText } from '../../query/json-text.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { LARGEST_EVENT_BYTES, tooLong } from '../event/event-verdict.ts';
import { type MessagePlace, recordId } from '../event/log-id.ts';
import { MemberScanner } from '../event/member-scanner.ts';
import { decoded, MOST_UNPACKED_BYTES, type UnpackBudget } from './decode-steps.ts';
import type { Items, Mapping } from './mapping.ts';
import { MappingFault, shownText } from './mapping-fault.ts';
import { foundAt, isRecordObject, itemTexts, type PathStep } from './record-path.ts';
import { absentBy, RecordReader } from './record-reader.ts';

/**
 * What becomes of a record: the bytes of an event in our own form, which the intake judges as any; a dead letter of the record; or it is
 * left out. `zoneId` is null where the record has no zone that its caller may write to. `hasOwnId` is false where the id is made of the
 * record's bytes, and `isJson` where the bytes that were given are no JSON object. `timeMs` is the time of the event in Unix milliseconds.
 */
export type MappedRecord =
  | {
      readonly kind: 'event';
      readonly event: Buffer;
      readonly timeMs: number;
      readonly hasOwnId: boolean;
      readonly record: Uint8Array;
    }
  | {
      readonly kind: 'rejected';
      readonly reason: string;
      readonly zoneId: number | null;
      readonly record: Uint8Array;
      readonly isJson?: false;
    }
  | { readonly kind: 'leftOut'; readonly record: Uint8Array };

/** The zones that records may get beside what the mapping says. */
export interface ZoneChoice {
  /** The zone of all records, whatever the mapping says; null: what the mapping says counts. */
  readonly given: number | null;
  /** The zone of records for which the mapping has none; null: they are rejected. */
  readonly fallback: number | null;
  /** Whether the caller may write to a zone. */
  readonly opens: (zoneId: number) => boolean;
}

/** The members in which shippers wrap a record, in the order in which they are looked at. */
const WRAPPERS = ['message', 'log', 'event', 'payload'] as const;
/** How often a record is taken out of an envelope or a wrapper. */
export const MOST_LAYERS = 5;

/** What the items of an envelope may have unpacked together, in bytes. */
export const MOST_UNPACKED_OF_ITEMS = 16 * MOST_UNPACKED_BYTES;

const NOTHING_IS_ABSENT = (value: unknown): boolean => value === undefined;

/** What all records of some bytes have in common. */
interface Origin {
  readonly receive: (mapped: MappedRecord) => void;
  /** Where the bytes are in Kafka; null: they are not from there. */
  readonly place: MessagePlace | null;
  /** What items may still unpack. */
  readonly budget: UnpackBudget;
}

/** Turns records of other products into events by a mapping. */
export class RecordMapper {
  readonly #mapping: Mapping;
  readonly #zones: ZoneChoice;
  readonly #movedByMs: number;
  readonly #isAbsent: (value: unknown) => boolean;
  readonly #scanner = new MemberScanner();

  /** `movedByMs` is added to the time of each event; its log keeps its own. */
  constructor(mapping: Mapping, zones: ZoneChoice, movedByMs = 0) {
    [this.#mapping, this.#zones, this.#movedByMs, this.#isAbsent] = [mapping, zones, movedByMs, absentBy(mapping.absent)];
  }

  /**
   * Calls `receive` for a record, or for each of an envelope, in their order. Throws only what `receive` throws.
   *
   * @param place that of the message in Kafka that has the record
   */
  map(bytes: Uint8Array, receive: Origin['receive'], place: MessagePlace | null = null): void {
    const bare = withoutBlanks(bytes);
    this.#mapText(bare, bare.toString(), { receive, place, budget: { leftBytes: MOST_UNPACKED_OF_ITEMS } }, 0);
  }

  #mapText(bytes: Buffer, text: string, origin: Origin, layer: number): void {
    const record = bytes.length > LARGEST_EVENT_BYTES ? undefined : parsedObject(text);
    if (record === undefined) {
      const notJson = layer === 0 && bytes.length <= LARGEST_EVENT_BYTES ? { isJson: false as const } : {};
      origin.receive({ kind: 'rejected', reason: this.#faultOf(bytes), zoneId: this.#zones.given, record: bytes, ...notJson });
      return;
    }
    const values = new RecordReader(text, record, this.#isAbsent, this.#mapping.timezoneMinutes);
    const inside = layer < MOST_LAYERS;
    const items = inside ? this.#mapping.items.find(({ path, when }) => hasItems(record, path.steps) && values.holds(when)) : undefined;
    if (items !== undefined) {
      this.#mapItems(bytes, text, items, origin, layer);
      return;
    }
    const time = this.#timeOf(values);
    const wrapped = inside && time.kind !== 'time' ? wrappedIn(text, record) : null;
    if (wrapped === null) origin.receive(this.#mapped(bytes, values, time, origin.place));
    else this.#mapText(Buffer.from(wrapped), wrapped, origin, layer + 1);
  }

  /** Why the bytes are no record, in the words of the intake. */
  #faultOf(bytes: Uint8Array): string {
    if (bytes.length > LARGEST_EVENT_BYTES) {
      return tooLong(bytes.length);
    }
    return this.#scanner.scan(bytes) ? 'the event is not JSON' : this.#scanner.reason();
  }

  #mapItems(bytes: Buffer, text: string, { path, decode }: Items, origin: Origin, layer: number): void {
    const { receive, budget } = origin;
    const items = itemTexts(text, path.steps) ?? [];
    if (items.length === 0) receive({ kind: 'leftOut', record: bytes });
    for (const item of items) {
      const texts = kindOf(item) === 'string' ? this.#decodedItem(item, path.text, decode, budget) : [item];
      if (texts instanceof MappingFault) {
        receive({ kind: 'rejected', reason: texts.message, zoneId: this.#zones.given, record: Buffer.from(item) });
        continue;
      }
      for (const inner of texts) {
        const bare = inner.trim();
        this.#mapText(Buffer.from(bare), bare, origin, layer + 1);
      }
    }
  }

  /** The texts in an item that is a text; the fault, not thrown, where it cannot be decoded. */
  #decodedItem(item: string, path: string, decode: Items['decode'], ofAll: UnpackBudget): readonly string[] | MappingFault {
    const budget = { leftBytes: Math.min(MOST_UNPACKED_BYTES, ofAll.leftBytes) };
    const before = budget.leftBytes;
    try {
      return decoded(JSON.parse(item), decode, `an item of ${path}`, budget).map(String);
    } catch (error) {
      if (error instanceof MappingFault) return error;
      throw error;
    } finally {
      ofAll.leftBytes -= before - budget.leftBytes;
    }
  }

  #mapped(record: Buffer, values: RecordReader, time: Time, place: MessagePlace | null): MappedRecord {
    let zoneId: number | null = null;
    try {
      if (this.#isLeftOut(values)) {
        return { kind: 'leftOut', record };
      }
      const zone = this.#zoneOf(values);
      zoneId = typeof zone === 'number' ? zone : null;
      if (time.kind === 'fault') throw new MappingFault(time.reason);
      if (typeof zone !== 'number') throw zone;
      const id = this.#idOf(values);
      const timeMs = time.timeMs + this.#movedByMs;
      return {
        kind: 'event',
        event: this.#eventOf(record, values, zone, timeMs, id ?? recordId(record, place)),
        timeMs,
        hasOwnId: id !== null,
        record,
      };
    } catch (error) {
      if (!(error instanceof MappingFault)) throw error;
      return { kind: 'rejected', reason: error.message, zoneId, record };
    }
  }

  #isLeftOut(values: RecordReader): boolean {
    const { leaveOut } = this.#mapping;
    return leaveOut !== null && values.textOf(leaveOut, 'leaveOut')?.toLowerCase() === 'true';
  }

  #timeOf(values: RecordReader): Time {
    const value = this.#mapping.fields.get('timestamp')!;
    try {
      const text = values.textOf(value, 'timestamp');
      if (text === undefined) {
        return { kind: 'fault', reason: 'timestamp is absent: the record has no time where the mapping looks for it' };
      }
      return { kind: 'time', timeMs: Number(text) };
    } catch (error) {
      if (!(error instanceof MappingFault)) throw error;
      return { kind: 'fault', reason: error.message };
    }
  }

  /** The fault, not thrown, where the record has no zone, so that its time may be looked at first. */
  #zoneOf(values: RecordReader): number | MappingFault {
    const { given, fallback, opens } = this.#zones;
    const { zone } = this.#mapping;
    if (given !== null) {
      return given;
    }
    const named = zone === null ? undefined : values.textOf(zone, 'zone');
    if (named === undefined && fallback !== null) {
      return fallback;
    }
    const zoneId = named === undefined ? null : zoneIdIn(named);
    if (zoneId !== null && opens(zoneId)) {
      return zoneId;
    }
    if (named !== undefined && zoneId === null) {
      return new MappingFault(`zone is ${shownText(named)}: a number of ${ZONE_ID_RANGE} is required`);
    }
    const found = zone === null ? undefined : values.lookedUp(zone, 'zone');
    const of = found === undefined ? '' : ` for ${shownText(found)}`;
    return new MappingFault(
      zoneId === null
        ? `the record has no zone: the mapping names none${of}, and no other is given for all records`
        : `the record is of shield zone ${zoneId}${of}, which the access key does not open`,
    );
  }

  #eventOf(record: Buffer, values: RecordReader, zoneId: number, timeMs: number, id: string): Buffer {
    const members: Record<string, string | number> = { shieldZoneId: zoneId, timestamp: timeMs, logId: id };
    for (const [name, value] of this.#mapping.fields) {
      const text = name === 'timestamp' ? undefined : values.textOf(value, name);
      if (text !== undefined) members[name] = text;
    }
    const head = `${JSON.stringify(members).slice(0, -1)},"log":`;
    const headBytes = Buffer.byteLength(head);
    const event = Buffer.allocUnsafe(headBytes + record.length + 1);
    event.write(head);
    event.set(record, headBytes);
    event[event.length - 1] = CLOSE_BRACE;
    return event;
  }

  /** Null where the record has none. Texts that were repaired are no ids: two that differ in what was repaired alone would become one. */
  #idOf(values: RecordReader): string | null {
    const parts = this.#mapping.id.map((value) => values.textOf(value, 'id'));
    const id = parts.includes(undefined) ? '' : parts.join('-');
    return id === '' || !id.isWellFormed() || id.includes('\ufffd') ? null : id;
  }
}

type Time = { readonly kind: 'time'; readonly timeMs: number } | { readonly kind: 'fault'; readonly reason: string };

/** Without a byte order mark and the blanks around it. */
function withoutBlanks(bytes: Uint8Array): Buffer {
  let [start, end] = [bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0, bytes.length];
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

/** Whether bytes are a JSON object, or so long that this does not matter: what a mapping says of others is `isJson: false`. */
export function isRecord(bytes: Uint8Array): boolean {
  const bare = withoutBlanks(bytes);
  return bare.length > LARGEST_EVENT_BYTES || parsedObject(bare.toString()) !== undefined;
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecordObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path of items leads to a list or a text; one with `[*]` does where it leads to anything. */
function hasItems(record: unknown, steps: readonly PathStep[]): boolean {
  const found = foundAt(record, steps, NOTHING_IS_ABSENT);
  return Array.isArray(found) || typeof found === 'string' || (found !== undefined && steps.some(({ kind }) => kind === 'each'));
}

/** The JSON text of the object that a shipper wrapped as it is or as a text; null where there is none. */
function wrappedIn(text: string, record: Readonly<Record<string, unknown>>): string | null {
  for (const name of WRAPPERS) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (isRecordObject(value)) return memberText(text, name) ?? null;
    if (typeof value === 'string' && /^\s*\{/.test(value) && parsedObject(value) !== undefined) return value.trim();
  }
  return null;
}

import { CLOSE_BRACE, isBlank } from '../../query/json-bytes.ts';
import { kindOf, memberText } from '../../query/json-text.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { LARGEST_EVENT_BYTES, LARGEST_REST_BYTES, tooLong, tooLongRest } from '../event/event-verdict.ts';
import { type MessagePlace, recordId } from '../event/log-id.ts';
import { MemberScanner } from '../event/member-scanner.ts';
import { type CompiledMapping, compiledMapping } from './compiled-mapping.ts';
import { decoded, MOST_UNPACKED_BYTES, type UnpackBudget } from './decode-steps.ts';
import type { Items, Mapping } from './mapping.ts';
import { MappingFault, shownText } from './mapping-fault.ts';
import { ParsedRecord } from './parsed-record.ts';
import { isRecordObject, itemTexts } from './record-path.ts';

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
/** At most so many times the bytes of the envelope, because logs in gzip are 10 to 40 times as long unpacked. */
export const UNPACKED_TIMES = 64;
/** Of a small envelope, an item that is too much for one record, and all of another. */
const LEAST_UNPACKED_OF_ITEMS = 2 * MOST_UNPACKED_BYTES;

/** What all records of some bytes have in common. */
interface Origin {
  readonly receive: (mapped: MappedRecord) => void;
  /** Where the bytes are in Kafka; null: they are not from there. */
  readonly place: MessagePlace | null;
  /** What items may still unpack. */
  readonly budget: UnpackBudget;
}

/** The text of a record, and what JSON.parse makes of it. */
interface RecordText {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Turns records of other products into events by a mapping. */
export class RecordMapper {
  readonly #zones: ZoneChoice;
  readonly #movedByMs: number;
  readonly #mapping: CompiledMapping;
  /** Says what is wrong with bytes that are no record. Made only then, because that takes longer than a record. */
  #scanner: MemberScanner | undefined;

  /** `movedByMs` is added to the time of each event; its log keeps its own. */
  constructor(mapping: Mapping, zones: ZoneChoice, movedByMs = 0) {
    [this.#mapping, this.#zones, this.#movedByMs] = [compiledMapping(mapping), zones, movedByMs];
  }

  /**
   * Calls `receive` for a record, or for each of an envelope, in their order. Throws only what `receive` throws.
   *
   * @param place that of the message in Kafka that has the record
   */
  map(bytes: Uint8Array, receive: Origin['receive'], place: MessagePlace | null = null): void {
    const bare = withoutBlanks(bytes);
    this.#mapText(bare, bare.toString(), { receive, place, budget: { leftBytes: mostUnpacked(bare.length) } }, 0);
  }

  #mapText(bytes: Buffer, text: string, origin: Origin, layer: number): void {
    const value = bytes.length > LARGEST_EVENT_BYTES ? undefined : parsedObject(text);
    if (value === undefined) {
      const notJson = layer === 0 && bytes.length <= LARGEST_EVENT_BYTES ? { isJson: false as const } : {};
      origin.receive({ kind: 'rejected', reason: this.#faultOf(bytes), zoneId: this.#zones.given, record: bytes, ...notJson });
      return;
    }
    this.#mapRecord(bytes, { text, value }, origin, layer);
  }

  #mapRecord(bytes: Buffer, { text, value }: RecordText, origin: Origin, layer: number): void {
    const record = new ParsedRecord(text, value);
    const inside = layer < MOST_LAYERS;
    const items = inside ? this.#mapping.items.find(({ find, holds }) => find(value) !== undefined && holds(record)) : undefined;
    if (items !== undefined) {
      this.#mapItems(bytes, text, items, origin, layer);
      return;
    }
    const time = this.#timeOf(record);
    const wrapped = inside && time.kind !== 'time' ? wrappedIn(text, value) : null;
    if (wrapped === null) origin.receive(this.#mapped(bytes, record, time, origin.place));
    else this.#mapRecord(Buffer.from(wrapped.text), wrapped, origin, layer + 1);
  }

  /** Why the bytes are no record, in the words of the intake. */
  #faultOf(bytes: Uint8Array): string {
    if (bytes.length > LARGEST_EVENT_BYTES) {
      return tooLong(bytes.length, 'record');
    }
    this.#scanner ??= new MemberScanner();
    return this.#scanner.scan(bytes) ? 'the record is not JSON' : this.#scanner.reason('record');
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
    const before = Math.min(MOST_UNPACKED_BYTES, ofAll.leftBytes);
    const budget = { leftBytes: before };
    try {
      return decoded(JSON.parse(item), decode, `an item of ${path}`, budget).map(String);
    } catch (error) {
      if (!(error instanceof MappingFault)) throw error;
      const isOfAll = budget.leftBytes === 0 && before < MOST_UNPACKED_BYTES;
      return isOfAll ? new MappingFault(`an item of ${path} has more than the ${before} bytes unpacked that its envelope has left`) : error;
    } finally {
      ofAll.leftBytes -= before - budget.leftBytes;
    }
  }

  #mapped(bytes: Buffer, record: ParsedRecord, time: Time, place: MessagePlace | null): MappedRecord {
    let zoneId: number | null = null;
    try {
      if (this.#mapping.leaveOut?.(record)?.toLowerCase() === 'true') {
        return { kind: 'leftOut', record: bytes };
      }
      const zone = this.#zoneOf(record);
      zoneId = typeof zone === 'number' ? zone : null;
      if (time.kind === 'fault') throw new MappingFault(time.reason);
      if (typeof zone !== 'number') throw zone;
      const id = this.#idOf(record);
      const timeMs = time.timeMs + this.#movedByMs;
      const event = this.#eventOf(bytes, record, zone, timeMs, id ?? recordId(bytes, place));
      return { kind: 'event', event, timeMs, hasOwnId: id !== null, record: bytes };
    } catch (error) {
      if (!(error instanceof MappingFault)) throw error;
      return { kind: 'rejected', reason: error.message, zoneId, record: bytes };
    }
  }

  #timeOf(record: ParsedRecord): Time {
    try {
      const text = this.#mapping.timestamp(record);
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
  #zoneOf(record: ParsedRecord): number | MappingFault {
    const { given, fallback, opens } = this.#zones;
    if (given !== null) {
      return given;
    }
    const named = this.#mapping.zone?.textIn(record);
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
    const found = this.#mapping.zone?.lookedUp(record);
    const of = found === undefined ? '' : ` for ${shownText(found)}`;
    return new MappingFault(
      zoneId === null
        ? `the record has no zone: the mapping names none${of}, and no other is given for all records`
        : `the record is of shield zone ${zoneId}${of}, which the access key does not open`,
    );
  }

  #eventOf(bytes: Buffer, record: ParsedRecord, zoneId: number, timeMs: number, id: string): Buffer {
    const members: Record<string, string | number> = { shieldZoneId: zoneId, timestamp: timeMs, logId: id };
    for (const [name, textIn] of this.#mapping.fields) {
      const text = textIn(record);
      if (text !== undefined) members[name] = text;
    }
    const head = `${JSON.stringify(members).slice(0, -1)},"log":`;
    const headBytes = Buffer.byteLength(head);
    if (headBytes > LARGEST_REST_BYTES) throw new MappingFault(tooLongRest(headBytes));
    const event = Buffer.allocUnsafe(headBytes + bytes.length + 1);
    event.write(head);
    event.set(bytes, headBytes);
    event[event.length - 1] = CLOSE_BRACE;
    return event;
  }

  /** Null where the record has none. Texts that were repaired are no ids: two that differ in what was repaired alone would become one. */
  #idOf(record: ParsedRecord): string | null {
    let id = '';
    for (const [index, textIn] of this.#mapping.id.entries()) {
      const part = textIn(record);
      if (part === undefined) return null;
      id = index === 0 ? part : `${id}-${part}`;
    }
    return id === '' || !id.isWellFormed() || id.includes('\ufffd') ? null : id;
  }
}

type Time = { readonly kind: 'time'; readonly timeMs: number } | { readonly kind: 'fault'; readonly reason: string };

/** What the items of an envelope of so many bytes may have unpacked together. */
function mostUnpacked(envelopeBytes: number): number {
  return Math.min(MOST_UNPACKED_OF_ITEMS, Math.max(LEAST_UNPACKED_OF_ITEMS, UNPACKED_TIMES * envelopeBytes));
}

/** Without a byte order mark and the blanks around it. */
function withoutBlanks(bytes: Uint8Array): Buffer {
  let [start, end] = [bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0, bytes.length];
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const isBare = Buffer.isBuffer(bytes) && end - start === bytes.length;
  return isBare ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecordObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The object that a shipper wrapped as it is or as a text; null where there is none. */
function wrappedIn(text: string, record: Readonly<Record<string, unknown>>): RecordText | null {
  for (const name of WRAPPERS) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if (isRecordObject(value)) return { text: memberText(text, name)!, value };
    const parsed = typeof value === 'string' && /^\s*\{/.test(value) ? parsedObject(value) : undefined;
    if (parsed !== undefined) return { text: String(value).trim(), value: parsed };
  }
  return null;
}

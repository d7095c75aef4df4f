import { behindNuls, OPEN_BRACKET } from '../../query/json-bytes.ts';
import type { BatchBuilder, RejectedMessage } from '../event/batch-builder.ts';
import { type EventVerdict, LARGEST_EVENT_BYTES, LARGEST_LINE_BYTES, tooLong } from '../event/event-verdict.ts';
import type { MessagePlace } from '../event/log-id.ts';
import type { LongPiece } from '../event/partial-event.ts';
import type { MappedRecord, RecordMapper } from '../mapping/record-mapper.ts';
import { type EventReceiver, firstByteOf, NO_LINES } from './event-splitters.ts';
import { PART_BYTES } from './input-splitter.ts';
import { MAX_REJECTED, UnreadableInput } from './intake-report.ts';
import { JsonTextSplitter } from './json-text-splitter.ts';

/** A message of which more events are rejected leaves one dead letter, that of the whole message. */
export const MAX_ITEM_LETTERS = 1_000;
/** An array without elements and a blank line take as long as an event, and 64 MiB of them would hold the program for a minute. */
const MAX_EMPTY = 100_000;
/** All events of a message go into one batch. Twice what a record batch may unpack to is less than this for usual records. */
export const MOST_MAPPED_BYTES = 128 * 1024 * 1024;
/** A splitter counts newlines at most so often for an event. */
const COUNTS_PER_EVENT = 3;
const NOT_READ_ON = ', and what follows them was not read';

const TOO_MUCH = `the records of the message become events of more than ${MOST_MAPPED_BYTES} bytes, which are allowed`;

type Rejection = Extract<EventVerdict, { kind: 'rejected' }>;

/** A record of a message that is no dead letter. */
type TakenRecord = Exclude<MappedRecord, { readonly kind: 'rejected' }>;

/** What becomes of an item of a message. */
type Outcome = Rejection | { readonly kind: 'accepted' | 'expired' | 'event' | 'leftOut' };

/** Calls `take` for what becomes of the item with this index; of an envelope for each of its records. */
type Judge<Some extends Outcome> = (item: Uint8Array, index: number, take: (bytes: Uint8Array, outcome: Some) => void) => void;

/**
 * Adds what a message of Kafka holds to a batch, and passes its source offset: one event, several as a body of `application/json` has them,
 * or dead letters of those that break a rule. `onVerdict` is called for each of the others. The bytes are copied.
 */
export function addKafkaMessage(
  builder: BatchBuilder,
  topic: string,
  partition: number,
  offset: bigint,
  value: Uint8Array,
  onVerdict: (verdict: EventVerdict) => void = () => undefined,
): void {
  const verdict = builder.tryKafkaMessage(topic, partition, offset, value);
  if (verdict.kind !== 'rejected') {
    onVerdict(verdict);
    return;
  }
  const place = { topic, partition, offset };
  for (const rejected of splitMessage(builder, place, value, verdict, onVerdict)) {
    builder.rejectMessage(place, rejected);
  }
}

/**
 * Adds the events of a message that was rejected as one event, where it may hold several. Returns those that break a rule, or the message
 * itself, without an index: where it holds one at most, where more than {@link MAX_ITEM_LETTERS} of its events break a rule, or where it is
 * not read on.
 */
export function splitMessage(
  builder: BatchBuilder,
  place: MessagePlace,
  value: Uint8Array,
  rejection: Rejection,
  onVerdict: (verdict: EventVerdict) => void = () => undefined,
): readonly RejectedMessage[] {
  const whole = { bytes: value, index: null, reason: rejection.reason, zoneId: rejection.zoneId };
  // A longer one is not looked at as one event.
  if (rejection.isJson !== false && value.length <= LARGEST_LINE_BYTES) {
    return [whole];
  }
  const judge: Judge<EventVerdict> = (item, index, take) => take(item, builder.tryMessageAt(place, index, item));
  const items = new MessageItems('event', judge, onVerdict);
  return lettersOf(items, value, { read: () => splitItems(value, items), alone: () => whole });
}

/**
 * Maps the records of a message: one, or several as in {@link splitMessage}, and those of envelopes. Calls `receive` for those that become
 * events or are left out, each with its index, and returns the others as `splitMessage` does.
 */
export function mapMessage(
  mapper: RecordMapper,
  place: MessagePlace,
  value: Uint8Array,
  receive: (mapped: TakenRecord, index: number) => void,
): readonly RejectedMessage[] {
  const message = value[0] === 0 ? value.subarray(behindNuls(value)) : value;
  const judge: Judge<MappedRecord> = (item, _, take) => mapper.map(item, (mapped) => take(mapped.record, mapped), place);
  let eventBytes = 0;
  const items = new MessageItems<MappedRecord>('record', judge, (mapped, index) => {
    eventBytes += mapped.kind === 'event' ? mapped.event.length : 0;
    if (eventBytes > MOST_MAPPED_BYTES) throw new UnreadableInput('input_too_long', TOO_MUCH);
    receive(mapped, index);
  });
  let whole: RejectedMessage = { bytes: value, index: null, reason: tooLong(message.length, 'record'), zoneId: null };
  let isOneText = false;
  const read = (): void => {
    isOneText = message.length <= LARGEST_EVENT_BYTES && items.tryEvent(message);
    if (isOneText) return;
    if (items.notJson !== null) whole = { ...whole, reason: items.notJson.reason };
    splitItems(message, items);
  };
  return lettersOf(items, value, { read, alone: () => (isOneText ? { ...items.rejected[0]!, index: null } : whole) });
}

function splitItems<Some extends Outcome>(value: Uint8Array, items: MessageItems<Some>): void {
  const splitter = new JsonTextSplitter(NO_LINES);
  for (let at = 0; at < value.length; at += PART_BYTES) {
    splitter.push(Buffer.from(value.buffer, value.byteOffset + at, Math.min(PART_BYTES, value.length - at)), items);
  }
  splitter.end(items);
}

/**
 * Reads the items of a message. Returns a letter for each rejected one, or for the message where they are too many or it is not read on.
 * `alone` is the letter of a message that has one item at most.
 */
function lettersOf<Some extends Outcome>(
  items: MessageItems<Some>,
  value: Uint8Array,
  { read, alone }: { readonly read: () => void; readonly alone: () => RejectedMessage },
): readonly RejectedMessage[] {
  let endedBy: UnreadableInput | null = null;
  try {
    read();
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    endedBy = error;
  }
  const { count, rejectedCount, rejected } = items;
  const isClosedArray = firstByteOf(value) === OPEN_BRACKET && !items.isUnclosed;
  if (count <= 1 && count === rejectedCount && !isClosedArray) {
    return [alone()];
  }
  const whole = { bytes: value, index: null, zoneId: null };
  if (rejectedCount > MAX_ITEM_LETTERS) {
    const few = `at most ${MAX_ITEM_LETTERS} become dead letters of their own`;
    const rest = endedBy === null ? '' : NOT_READ_ON;
    return [
      { ...whole, reason: `${rejectedCount} of ${count} ${items.what}s of the message break a rule, and ${few}${rest}; ${items.first}` },
    ];
  }
  return endedBy === null ? rejected : [{ ...whole, reason: `${endedBy.message}${NOT_READ_ON}` }];
}

/** Takes the items of one message from a splitter, and keeps the first that are rejected. */
class MessageItems<Some extends Outcome> implements EventReceiver {
  /** What they are in messages. */
  readonly what: 'event' | 'record';
  readonly #judge: Judge<Some>;
  readonly #receive: (outcome: Exclude<Some, Rejection>, index: number) => void;
  /** Items so far, which is the index of the next. */
  count = 0;
  rejectedCount = 0;
  /** The first of these. */
  readonly rejected: RejectedMessage[] = [];
  #newlineCounts = 0;
  /** The message is an array without its end. */
  isUnclosed = false;
  /** Why the item that `tryEvent` was called with last is no JSON; null where it is. */
  notJson: Rejection | null = null;

  constructor(what: 'event' | 'record', judge: Judge<Some>, receive: (outcome: Exclude<Some, Rejection>, index: number) => void) {
    [this.what, this.#judge, this.#receive] = [what, judge, receive];
  }

  /** The first item that breaks a rule, in words. */
  get first(): string {
    const [rejected] = this.rejected;
    return `the first is the one with index ${rejected?.index}: ${rejected?.reason}`;
  }

  event(bytes: Uint8Array): void {
    this.#judge(bytes, this.count, (item, outcome) => this.#take(item, outcome));
  }

  tryEvent(bytes: Uint8Array): boolean {
    this.notJson = null;
    this.#judge(bytes, this.count, (item, outcome) => {
      if (outcome.kind === 'rejected' && outcome.isJson === false) this.notJson = outcome;
      else this.#take(item, outcome);
    });
    return this.notJson === null;
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes, this.what)): void {
    this.#reject(piece, reason, null);
  }

  stray(bytes: Uint8Array, reason: string): void {
    this.#reject(bytes, reason, null);
  }

  unclosed(bytes: Uint8Array | LongPiece, index: number): void {
    this.isUnclosed = true;
    this.#reject(bytes, `the message ends inside a JSON array, in element ${index}: "]" is missing`, null);
  }

  converted(): void {}

  /** Throws `UnreadableInput` behind very many that no event is on. */
  newlines(): void {
    this.#newlineCounts++;
    if (this.#newlineCounts > COUNTS_PER_EVENT * this.count + MAX_EMPTY) {
      throw new UnreadableInput('too_many_rejected', `more than ${MAX_EMPTY} lines and arrays of the message are empty`);
    }
  }

  #take(bytes: Uint8Array, outcome: Some): void {
    if (outcome.kind === 'rejected') {
      this.#reject(bytes, outcome.reason, outcome.zoneId);
    } else {
      this.#receive(outcome as Exclude<Some, Rejection>, this.count);
      this.count++;
    }
  }

  /** Throws `UnreadableInput` behind as many as an upload may have. */
  #reject(bytes: Uint8Array | LongPiece, reason: string, zoneId: number | null): void {
    if (this.rejectedCount < MAX_ITEM_LETTERS) {
      this.rejected.push({ bytes, index: this.count, reason, zoneId });
    }
    this.rejectedCount++;
    this.count++;
    if (this.rejectedCount > MAX_REJECTED) {
      throw new UnreadableInput('too_many_rejected', `more than ${MAX_REJECTED} ${this.what}s of the message break a rule`);
    }
  }
}

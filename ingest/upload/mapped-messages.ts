import type { BatchBuilder, PartitionRecords } from '../event/batch-builder.ts';
import type { EventVerdict } from '../event/event-verdict.ts';
import type { MessagePlace } from '../event/log-id.ts';
import { LongPiece } from '../event/partial-event.ts';
import { UnreadableInput } from './intake-report.ts';
import { MAPPED, type MappedPiece, mappedRecordOf, type RecordZones, rejectedPiece, rejectionOf } from './mapped-pieces.ts';
import type { MappingThreads } from './mapping-threads.ts';

/** What a record says of its zone counts, because nobody else names one for a topic. */
const ZONES: RecordZones = { given: null, fallback: null, opened: 'all' };
/** So many bytes of messages are mapped together, and a message that is longer by itself. */
const PART_BYTES = 256 * 1024;
/** With so many bytes of events, whole messages are taken in before more are mapped. */
const HELD_BYTES = 8 * 1024 * 1024;

/** Messages of a partition, with copies of their values that may be transferred to a thread. */
export interface MessageCopies extends Pick<PartitionRecords, 'base' | 'count' | 'deltas'> {
  /** The values back to back, and the offset behind each. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The index among the messages of each value: a tombstone has none. */
  readonly messageOf: readonly number[];
}

/** What becomes of the records of messages. */
export interface MappedMessages extends Pick<PartitionRecords, 'base' | 'count' | 'deltas'> {
  readonly mapping: string;
  readonly messageOf: readonly number[];
  /** Outcomes by the index of the value that has the record. */
  readonly pieces: readonly MappedPiece[];
}

/** Copies messages from an index on, in parts that are mapped together. */
export function copiesOf({ base, bytes, count, deltas, starts, ends }: PartitionRecords, from: number): MessageCopies[] {
  const all: MessageCopies[] = [];
  for (let begin = from, end = from; begin < count; begin = end) {
    const messageOf: number[] = [];
    const valueEnds: number[] = [];
    let sizeBytes = 0;
    for (; end < count && sizeBytes < PART_BYTES; end++) {
      if (starts[end]! < 0) continue;
      sizeBytes += ends[end]! - starts[end]!;
      messageOf.push(end - begin);
      valueEnds.push(sizeBytes);
    }
    // Never of the pool of Node, which what is handed to a thread would take along.
    const copy = Buffer.allocUnsafeSlow(sizeBytes);
    messageOf.forEach((index, value) => {
      copy.set(bytes.subarray(starts[begin + index], ends[begin + index]), valueEnds[value - 1] ?? 0);
    });
    all.push({ base, count: end - begin, deltas: deltas.slice(begin, end), bytes: copy, ends: Uint32Array.from(valueEnds), messageOf });
  }
  return all;
}

/**
 * Maps the records of messages of a partition, and yields those of some messages at a time, in their order. A message that takes more
 * memory than a thread has is a dead letter. Throws where a thread ends for another reason.
 */
export type MessageMapper = (
  place: Pick<MessagePlace, 'topic' | 'partition'>,
  copies: MessageCopies,
) => AsyncGenerator<MappedMessages, void>;

/** `mapping` is the name of one that the threads have. */
export function messageMapper(threads: MappingThreads, mapping: string): MessageMapper {
  const map: MessageMapper = async function* (place, copies) {
    const { bytes, ends, messageOf, count, ...base } = copies;
    const messages = { ...place, offsets: messageOf.map((index) => offsetOf(base, index)) };
    let pieces: MappedPiece[] = [];
    let heldBytes = 0;
    let yielded = 0;
    const untilNow = (values: number): MappedMessages => ({
      ...{ ...base, mapping, pieces },
      count: messageOf[values] ?? count,
      messageOf: messageOf.slice(0, values),
    });
    try {
      using underWay = messageOf.length === 0 ? null : await threads.begin({ mapping, zones: ZONES, bytes, ends, messages });
      for (let piece = await underWay?.next(); piece != null; piece = await underWay?.next()) {
        // The next piece has its memory.
        pieces.push({ ...piece, lines: piece.lines.slice() });
        heldBytes += piece.lines.length;
        const { record, outcome } = piece.next;
        if (heldBytes < HELD_BYTES || outcome > 0 || record === messageOf.length) continue;
        yield untilNow(record);
        [pieces, heldBytes, yielded] = [[], 0, record];
      }
    } catch (error) {
      if (!(error instanceof UnreadableInput)) throw error;
      // A thread has too little memory for one of them, and nothing tells for which: that one is a dead letter.
      if (messageOf.length > 1) {
        for (let value = yielded; value < messageOf.length; value++) yield* map(place, onlyValue(copies, value));
        return;
      }
      // What came of it before is in the letter.
      pieces = [rejectedPiece(bytes, `the message cannot be mapped: ${error.message}`)];
    }
    yield untilNow(messageOf.length);
  };
  return map;
}

/** A value of some messages by itself, with the messages before it, whose values are taken in already. */
function onlyValue({ bytes, ends, messageOf, count, ...base }: MessageCopies, value: number): MessageCopies {
  // A copy, because a thread is given all of the memory that a view is of.
  const message = Uint8Array.from(bytes.subarray(ends[value - 1] ?? 0, ends[value]));
  const own = { bytes: message, ends: Uint32Array.of(message.length), messageOf: [messageOf[value]!] };
  return { ...base, ...own, count: messageOf[value + 1] ?? count };
}

function offsetOf({ base, deltas }: Pick<MessageCopies, 'base' | 'deltas'>, index: number): bigint {
  return base + BigInt(deltas[index]!);
}

/** What became of a mapped record. */
export type RecordVerdict = EventVerdict | { readonly kind: 'leftOut' };

/**
 * Adds the records of mapped messages, from the message with an index on: events, and dead letters of those that break a rule. Calls
 * `onVerdict` for each. Moves no source offset. The bytes are copied.
 */
export function addMappedMessages(
  builder: BatchBuilder,
  { topic, partition }: Pick<MessagePlace, 'topic' | 'partition'>,
  messages: MappedMessages,
  from: number,
  onVerdict: (verdict: RecordVerdict) => void,
): void {
  const { mapping, messageOf, pieces } = messages;
  for (const [number, piece] of pieces.entries()) {
    const { records, indexes } = piece;
    for (let outcome = 0; outcome < records.length; outcome++) {
      const value = records[outcome]!;
      const message = messageOf[value]!;
      if (message < from) continue;
      const verdict = recordVerdict(builder, piece, outcome);
      onVerdict(verdict);
      if (verdict.kind !== 'rejected') continue;
      const before = records[outcome - 1] ?? pieces[number - 1]?.records.at(-1);
      const behind = records[outcome + 1] ?? pieces[number + 1]?.records[0];
      const isOnly = before !== value && behind !== value;
      const index = isOnly || indexes[outcome]! < 0 ? null : indexes[outcome]!;
      const { reason, zoneId } = verdict;
      builder.rejectMessage(
        { topic, partition, offset: offsetOf(messages, message) },
        { bytes: mappedLetterOf(piece, outcome), index, reason, zoneId, mapping },
      );
    }
  }
}

/** Adds the event of an outcome that is one. */
export function recordVerdict(builder: BatchBuilder, piece: MappedPiece, outcome: number): RecordVerdict {
  const { kinds, lines, lineEnds } = piece;
  switch (kinds[outcome]) {
    case MAPPED.leftOut:
      return { kind: 'leftOut' };
    case MAPPED.rejected: {
      const { reason, zoneId } = rejectionOf(piece, outcome);
      return { kind: 'rejected', reason, zoneId };
    }
    default:
      return builder.tryEvent(lines.subarray(lineEnds[outcome - 1] ?? 0, lineEnds[outcome]));
  }
}

/** The record of an outcome that is rejected, by its mapping or by the intake. */
export function mappedLetterOf(piece: MappedPiece, outcome: number): Uint8Array | LongPiece {
  if (piece.kinds[outcome] === MAPPED.event) return mappedRecordOf(piece, outcome);
  const { bytes, cut } = rejectionOf(piece, outcome);
  return cut === undefined ? bytes : new LongPiece({ start: bytes, ...cut, newlines: 0, isBlank: false });
}

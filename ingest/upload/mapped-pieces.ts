import { NEWLINE } from '../../query/json-bytes.ts';
import { LARGEST_LINE_BYTES, tooLong } from '../event/event-verdict.ts';
import { GatheredBytes } from '../event/gathered-bytes.ts';
import type { MessagePlace } from '../event/log-id.ts';
import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type MappedRecord, RecordMapper } from '../mapping/record-mapper.ts';
import { MAX_REJECTED } from './intake-report.ts';
import { mapMessage } from './message-events.ts';

/** The zones that records may get beside what the mapping says: `ZoneChoice` as data, which can go to a thread. */
export interface RecordZones {
  readonly given: number | null;
  readonly fallback: number | null;
  readonly opened: 'all' | readonly number[];
}

/** Records to be mapped. */
export interface RecordBatch {
  /** The name of the mapping. */
  readonly mapping: string;
  readonly zones: RecordZones;
  /** Has all records. A thread gets a copy, unless it is memory that threads share. */
  readonly bytes: Uint8Array;
  /** The offset in `bytes` at which each record ends. */
  readonly ends: Uint32Array | Int32Array;
  /** The one at which each begins. Absent: where the one before it ends. */
  readonly starts?: Int32Array;
  /** Present where these are messages of a partition of Kafka, which may have several records each, with their offsets. */
  readonly messages?: Pick<MessagePlace, 'topic' | 'partition'> & { readonly offsets: readonly bigint[] };
  /** What is added to the time of each event, in milliseconds. Default: nothing. */
  readonly movedByMs?: number | undefined;
}

/** Where a batch is mapped on: the index of a record, and how many of its outcomes there are already. An envelope has several. */
export interface BatchPlace {
  readonly record: number;
  readonly outcome: number;
}

/** A batch with memory for the events that it becomes, which is all that there is for them. */
export interface MappingTask {
  readonly batch: RecordBatch;
  readonly from: BatchPlace;
  /** It has whatever was in it. */
  readonly room: Uint8Array;
}

/** What becomes of a record or of an item of one. */
export const MAPPED = { event: 0, rejected: 1, leftOut: 2 } as const;

/** What becomes of some records of a batch, in their order. */
export interface MappedPiece {
  /** One of `MAPPED` for each outcome. */
  readonly kinds: Uint8Array;
  /** The index in the batch of the record that each outcome is of. */
  readonly records: Uint32Array;
  /** The events, a line each. One whose record goes over lines does so, too. */
  readonly lines: Uint8Array;
  /** The offset in `lines` behind the newline of each outcome; of one that is no event, that of the one before. */
  readonly lineEnds: Uint32Array;
  /** Of an event the offset in `lines` at which its record begins, which ends before the event's last brace; of a rejection its number. */
  readonly places: Uint32Array;
  /** Of messages the index of each outcome in its message, -1 for what is all of it. */
  readonly indexes: Int32Array;
  /** The records that are rejected, back to back. */
  readonly letters: Uint8Array;
  /** Of each outcome that is rejected, in their order. */
  readonly rejected: readonly MappedRejection[];
  /** Where the next piece begins. */
  readonly next: BatchPlace;
  /** The bytes that the event there takes, for which there was no room; 0 where there may be. */
  readonly needsBytes: number;
}

export interface MappedRejection {
  readonly reason: string;
  readonly zoneId: number | null;
  /** The offset in the letters behind the record. */
  readonly end: number;
  /** Present where the letters have only the start of the record: what tells it from others. */
  readonly cut?: Pick<LongPiece, 'sizeBytes' | 'sha256'>;
}

/** A piece ends behind the record with which it has about so many bytes. */
export const MAPPED_PIECE_BYTES = 1024 * 1024;
/** The most that an event usually has. */
const USUAL_EVENT_BYTES = 16 * 1024;
/** A piece ends behind the record with which it has so many rejections, because each may have a reason of its own. */
const PIECE_REJECTIONS = 1_000;
/** And with which it has so many outcomes, because those that are left out have no bytes. */
export const PIECE_OUTCOMES = 50_000;

/** Thrown where the rest of a record goes into another piece. */
const FULL = Symbol('the piece is full');

/** The brace that closes an event behind its record, and the end of its line. */
const CLOSING_BYTES = 2;

/** What becomes of a record, of which a rejected one may be cut. */
type WrittenRecord = MappedRecord & Pick<MappedRejection, 'cut'>;

/** Gathers what becomes of records, for those who take it in on another thread. */
class PieceWriter {
  readonly #lines: Uint8Array;
  #length = 0;
  readonly #letters = new GatheredBytes();
  readonly #kinds: number[] = [];
  readonly #records: number[] = [];
  readonly #lineEnds: number[] = [];
  readonly #places: number[] = [];
  readonly #indexes: number[] = [];
  readonly #rejected: MappedRejection[] = [];
  #record = 0;
  /** Outcomes of the record so far, those of earlier pieces included. */
  #outcomes = 0;
  /** So many of them are in earlier pieces. */
  #before = 0;
  #needsBytes = 0;

  /** `room` is where the lines go. */
  constructor(room: Uint8Array) {
    this.#lines = room;
  }

  get isFull(): boolean {
    // A usual record still fits.
    const used = this.#length + this.#letters.length;
    if (this.#kinds.length >= PIECE_OUTCOMES) return true;
    return used >= Math.max(MAPPED_PIECE_BYTES, this.#lines.length) - USUAL_EVENT_BYTES || this.#rejected.length >= PIECE_REJECTIONS;
  }

  /**
   * Adds what becomes of a record, from an outcome on: `map` hands it to the function that it is given, of a message with the index in
   * that. Returns where the next piece begins if there is no room for all of it; else null.
   */
  add({ record, outcome }: BatchPlace, map: (receive: (mapped: WrittenRecord, index?: number | null) => void) => void): BatchPlace | null {
    [this.#record, this.#before, this.#outcomes] = [record, outcome, 0];
    try {
      map(this.#receive);
    } catch (error) {
      if (error === FULL) return { record, outcome: this.#outcomes };
      throw error;
    }
    return null;
  }

  /** `next` is where the next piece begins. */
  take(next: BatchPlace): MappedPiece {
    return {
      kinds: new Uint8Array(this.#kinds),
      records: new Uint32Array(this.#records),
      lines: this.#lines.subarray(0, this.#length),
      lineEnds: new Uint32Array(this.#lineEnds),
      places: new Uint32Array(this.#places),
      indexes: new Int32Array(this.#indexes),
      letters: this.#letters.take(),
      rejected: this.#rejected,
      next,
      needsBytes: this.#needsBytes,
    };
  }

  readonly #receive = (mapped: WrittenRecord, index?: number | null): void => {
    if (this.#outcomes < this.#before) {
      this.#outcomes += 1;
      return;
    }
    this.#requireRoom(mapped);
    this.#outcomes += 1;
    this.#records.push(this.#record);
    if (index !== undefined) this.#indexes.push(index ?? -1);
    this.#kinds.push(MAPPED[mapped.kind]);
    if (mapped.kind === 'event') {
      this.#addLine(mapped.event);
      this.#places.push(this.#length - CLOSING_BYTES - mapped.record.length);
    } else {
      this.#places.push(this.#rejected.length);
    }
    this.#lineEnds.push(this.#length);
    if (mapped.kind === 'rejected') this.#reject(mapped);
  };

  /** Throws `FULL` where there is none. */
  #requireRoom(mapped: WrittenRecord): void {
    if (mapped.kind === 'event') {
      const lineBytes = mapped.event.length + 1;
      if (this.#length + lineBytes <= this.#lines.length) return;
      this.#needsBytes = lineBytes;
      throw FULL;
    }
    if (mapped.kind === 'rejected' && (this.#letters.length >= MAPPED_PIECE_BYTES || this.#rejected.length >= MAX_REJECTED)) throw FULL;
  }

  #addLine(event: Uint8Array): void {
    this.#lines.set(event, this.#length);
    this.#length += event.length + 1;
    this.#lines[this.#length - 1] = NEWLINE;
  }

  #reject({ reason, zoneId, record, cut }: Extract<WrittenRecord, { kind: 'rejected' }>): void {
    this.#letters.add(record, Number.POSITIVE_INFINITY);
    this.#rejected.push({ reason, zoneId, end: this.#letters.length, ...(cut === undefined ? {} : { cut }) });
  }
}

/** The piece of a message, the first of a batch, that is rejected as a whole. */
export function rejectedPiece(message: Uint8Array, reason: string): MappedPiece {
  const writer = new PieceWriter(new Uint8Array(0));
  writer.add({ record: 0, outcome: 0 }, (receive) => receive({ kind: 'rejected', reason, zoneId: null, record: message }, null));
  return writer.take({ record: 1, outcome: 0 });
}

/** What is taken in together of a piece, from an outcome on: up to the index `to` and the offset `end` in its lines. */
export function sliceOf({ kinds, lineEnds }: MappedPiece, from: number, mostBytes: number): { begin: number; end: number; to: number } {
  const begin = lineEnds[from - 1] ?? 0;
  let to = from + 1;
  while (to < kinds.length && lineEnds[to]! - begin <= mostBytes) to++;
  return { begin, end: lineEnds[to - 1] ?? begin, to };
}

/** The rejection of an outcome that is one, with its record. */
export function rejectionOf({ places, rejected, letters }: MappedPiece, index: number): MappedRejection & { readonly bytes: Uint8Array } {
  const number = places[index]!;
  const rejection = rejected[number]!;
  return { ...rejection, bytes: letters.subarray(rejected[number - 1]?.end ?? 0, rejection.end) };
}

/** The record of an outcome that is an event. */
export function mappedRecordOf({ places, lines, lineEnds }: MappedPiece, index: number): Uint8Array {
  return lines.subarray(places[index], lineEnds[index]! - CLOSING_BYTES);
}

/** Maps the records of a batch until a piece is full. */
export function mapPiece({ batch, from, room }: MappingTask, mapping: Mapping): MappedPiece {
  const { zones, bytes, starts, ends, messages, movedByMs } = batch;
  const { given, fallback, opened } = zones;
  const opens = (zoneId: number): boolean => opened === 'all' || opened.includes(zoneId);
  const mapper = new RecordMapper(mapping, { given, fallback, opens }, movedByMs);
  const writer = new PieceWriter(room);
  let next = from;
  while (next.record < ends.length && !writer.isFull) {
    const index = next.record;
    const record = bytes.subarray(starts?.[index] ?? ends[index - 1] ?? 0, ends[index]);
    const rest = writer.add(next, (receive) => {
      if (messages === undefined) mapOne(mapper, record, receive);
      else mapWholeMessage(mapper, { ...messages, offset: messages.offsets[index]! }, record, receive);
    });
    if (rest !== null) return writer.take(rest);
    next = { record: index + 1, outcome: 0 };
  }
  return writer.take(next);
}

/** Maps a record. The letter of one that is longer than any event has its start. */
function mapOne(mapper: RecordMapper, record: Uint8Array, receive: (mapped: WrittenRecord) => void): void {
  if (record.length <= LARGEST_LINE_BYTES) {
    mapper.map(record, receive);
    return;
  }
  const partial = new PartialEvent();
  partial.add(record);
  const { start, sizeBytes, sha256 } = partial.finish(new Uint8Array(0)) as LongPiece;
  receive({ kind: 'rejected', reason: tooLong(sizeBytes, 'record'), zoneId: null, record: start, cut: { sizeBytes, sha256 } });
}

/** Maps the records of a message, those that are rejected behind the others. */
function mapWholeMessage(
  mapper: RecordMapper,
  { topic, partition, offset }: MessagePlace,
  message: Uint8Array,
  receive: (mapped: WrittenRecord, index: number | null) => void,
): void {
  for (const { bytes: letter, reason, zoneId, index } of mapMessage(mapper, { topic, partition, offset }, message, receive)) {
    const isCut = letter instanceof LongPiece;
    receive(
      {
        kind: 'rejected',
        reason,
        zoneId,
        ...(isCut ? { record: letter.start, cut: { sizeBytes: letter.sizeBytes, sha256: letter.sha256 } } : { record: letter }),
      },
      index,
    );
  }
}

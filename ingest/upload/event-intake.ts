import type { EventBatch, EventStore } from '../../store/event-store.ts';
import { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { BatchBuilder, MAX_BATCH_BYTES } from '../event/batch-builder.ts';
import type { RecordValues } from '../event/event-kernel.ts';
import { type EventVerdict, LARGEST_LINE_BYTES, tooLong } from '../event/event-verdict.ts';
import { digestId } from '../event/log-id.ts';
import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import { MAX_PENDING_BYTES, PendingAppends, storeHasRoom } from '../event/pending-appends.ts';
import type { EventReceiver } from './event-splitters.ts';
import { type InputForm, InputSplitter, PART_BYTES } from './input-splitter.ts';
import {
  IntakeError,
  type IntakeReport,
  MAX_REJECTED,
  Rejections,
  requireAtMost,
  UnreadableInput,
  unclosedArray,
} from './intake-report.ts';
import { mappedLetterOf } from './mapped-messages.ts';
import { MAPPED, rejectionOf, sliceOf } from './mapped-pieces.ts';
import { type InputMapping, type MappedInput, mappedInput } from './record-input.ts';

/** How often a batch that is not full is appended, so that events of a slow input are searchable before its end. */
const APPEND_EVERY_MS = 250;
/** So many bytes of events whose places are known are taken in together, unless one is longer. */
const SLICE_BYTES = 64 * 1024;

/** The indices in the input, from 0, of the events of a batch. */
export interface BatchIndices {
  /** The index of each event. */
  readonly events: readonly number[];
  /** The index of each dead letter, with the zone of its event; null where the zone could not be read. */
  readonly deadLetters: readonly { readonly index: number; readonly zoneId: number | null }[];
}

export interface IntakeOptions extends InputForm {
  readonly store: EventStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** An input with more rejected events is not read on. Default: MAX_REJECTED. */
  readonly maxRejected?: number;
  /** Present where the input has records of another product, which a mapping makes events of. */
  readonly mapping?: InputMapping;
  /** The maximum length of the input, decompressed. Default: no limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Those of the program, which it shares with what else works on the main thread. Default: its own. */
  readonly turns?: MainThreadTurns;
  /** Checks each batch before it is stored. An error ends the intake, and neither that batch nor a later one is stored. */
  readonly admit?: (batch: EventBatch, indices: BatchIndices) => void;
  /** Called for each event of which so many texts are stored by their first bytes. */
  readonly onCutTexts?: (texts: number) => void;
  /** Called for each event whose `ip` is neither an address nor a network. */
  readonly onUnknownIp?: () => void;
}

/**
 * Stores the events of decompressed NDJSON or of JSON texts, in bounded memory. Resolves when all accepted events are
 * durable and searchable. Rejects with IntakeError where the input breaks off or cannot be read further, after the events before are
 * stored; with the store's error where an append failed; with the error of `admit`; or with the signal's reason.
 */
export async function takeInEvents(chunks: AsyncIterable<Uint8Array>, options: IntakeOptions): Promise<IntakeReport> {
  const { signal, mapping, turns = new MainThreadTurns(), maxBytes = Number.POSITIVE_INFINITY } = options;
  if (mapping !== undefined) {
    return await takeInMapped(mappedInput(chunks, { ...options, mapping, turns, maxBytes }), { ...options, turns });
  }
  return await finished(options, async (intake) => {
    let bytes = 0;
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      requireAtMost(maxBytes, bytes + chunk.length, intake.line);
      for (let start = 0; start < chunk.length; start += PART_BYTES) {
        const part = Buffer.from(chunk.buffer, chunk.byteOffset + start, Math.min(PART_BYTES, chunk.length - start));
        // The next chunks may be there already: nothing else ends the turn.
        await turns.run(() => intake.splitter.push(part, intake));
        await intake.untilRoom(() => intake.append());
      }
      bytes += chunk.length;
    }
    await turns.run(() => intake.splitter.end(intake));
  });
}

/** The same for what has become of the records of an input. An error of theirs is one of an input that breaks off. */
export async function takeInMapped(inputs: AsyncIterable<MappedInput>, options: IntakeOptions): Promise<IntakeReport> {
  const { signal, turns = new MainThreadTurns() } = options;
  return await finished(options, async (intake) => {
    for await (const input of inputs) {
      signal?.throwIfAborted();
      for (let from = 0; from < (input.kind === 'stray' ? 1 : input.piece.kinds.length); ) {
        from = await turns.run(() => intake.takeMapped(input, from));
        await intake.untilRoom(() => intake.append());
      }
    }
  });
}

/** The same for records that are events of our own form, each of which counts as a line. */
export async function takeInRecords(records: RecordValues, options: IntakeOptions): Promise<IntakeReport> {
  const { signal, turns = new MainThreadTurns() } = options;
  const { bytes, count, starts, ends } = records;
  return await finished(options, async (intake) => {
    for (let from = 0; from < count; ) {
      signal?.throwIfAborted();
      const [start, end] = [starts[from]!, ends[from]!];
      if (end - start > LARGEST_LINE_BYTES) {
        const whole = await hashedInTurns(bytes.subarray(start, end), turns);
        if (whole instanceof LongPiece) intake.tooLong(whole);
        else intake.event(whole);
        intake.newlines(1);
        from += 1;
      } else {
        from = await turns.run(() => intake.takeRecords(records, from));
      }
      await intake.untilRoom(() => intake.append());
    }
  });
}

/** A record that is longer than the longest line, which is hashed in several turns; its bytes where a line may have so many. */
async function hashedInTurns(record: Uint8Array, turns: MainThreadTurns): Promise<Uint8Array | LongPiece> {
  const partial = new PartialEvent();
  for (let at = 0; at < record.length; at += PART_BYTES) await turns.run(() => partial.add(record.subarray(at, at + PART_BYTES)));
  return partial.finish(new Uint8Array(0));
}

/** Takes in an input that `feed` reads to its end. */
async function finished(options: IntakeOptions, feed: (intake: Intake) => Promise<void>): Promise<IntakeReport> {
  const intake = new Intake(options);
  const appending = setInterval(() => intake.appendIfIdle(), APPEND_EVERY_MS);
  try {
    await feed(intake);
    while (intake.isStoreBusy) await intake.untilStoreHasRoom();
    intake.append();
    await intake.appends.drained();
  } catch (error) {
    options.signal?.throwIfAborted();
    throw await intake.stopped(error);
  } finally {
    clearInterval(appending);
    intake.end();
  }
  return intake.report();
}

/** The state of one intake. `takeInEvents` has it go on. */
class Intake implements EventReceiver {
  readonly #options: IntakeOptions;
  readonly #builder: BatchBuilder;
  readonly appends = new PendingAppends();
  readonly splitter: InputSplitter;
  #accepted = 0;
  #expired = 0;
  #repaired = 0;
  readonly #rejections = new Rejections();
  #leftOut = 0;
  /** The current line, from 1. */
  line = 1;
  /** The indices of the current batch; filled only for `admit`. */
  #indices: { readonly events: number[]; readonly deadLetters: BatchIndices['deadLetters'][number][] } = { events: [], deadLetters: [] };
  #refusal: { readonly error: unknown } | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options);
    this.splitter = new InputSplitter(options, this.#builder.converter);
  }

  /** Events seen so far, accepted or not. */
  get seen(): number {
    return this.#accepted + this.#expired + this.#rejections.count + this.#leftOut;
  }

  get #isFull(): boolean {
    return this.#builder.byteLength >= MAX_BATCH_BYTES;
  }

  get isStoreBusy(): boolean {
    return this.#options.store.pendingBytes() > MAX_PENDING_BYTES;
  }

  appendIfIdle(): void {
    if (!this.appends.hasRoom || this.isStoreBusy) return;
    try {
      this.append();
    } catch (error) {
      // The next step of the intake throws that of `admit`.
      if (this.#refusal === undefined) throw error;
    }
  }

  /**
   * Waits until more may be taken in, and calls `append` where a batch is full. Rejects with the error of `admit`. Nothing comes between
   * the question whether the store has room and the append, not even a step of another intake whose appends were done at the same moment.
   */
  async untilRoom(append: () => void): Promise<void> {
    await this.untilStoreHasRoom();
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (!this.#isFull) return;
    await this.appends.room();
    while (this.isStoreBusy) await this.untilStoreHasRoom();
    if (this.#isFull) append();
  }

  event(bytes: Uint8Array): void {
    this.#take(bytes, this.#builder.tryEvent(bytes));
  }

  tryEvent(bytes: Uint8Array): boolean {
    const verdict = this.#builder.tryEvent(bytes);
    if (verdict.kind === 'rejected' && verdict.isJson === false) {
      return false;
    }
    this.#take(bytes, verdict);
    return true;
  }

  #take(bytes: Uint8Array, verdict: EventVerdict): void {
    if (verdict.kind === 'accepted') {
      this.#accept(1);
      if (verdict.isRepaired === true) this.#repaired++;
      if (verdict.cutTexts !== undefined) this.#options.onCutTexts?.(verdict.cutTexts);
      if (verdict.hasUnknownIp === true) this.#options.onUnknownIp?.();
    } else if (verdict.kind === 'expired') {
      this.#expired++;
    } else {
      this.#reject(bytes, verdict.reason, verdict.zoneId);
    }
  }

  converted(events: number): void {
    this.#accept(events);
    this.line += events;
  }

  stray(bytes: Uint8Array | LongPiece, reason: string): void {
    this.#reject(bytes, reason, null);
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes)): void {
    this.#reject(piece, reason, null);
  }

  unclosed(_bytes: Uint8Array | LongPiece, index: number): never {
    throw unclosedArray(index);
  }

  newlines(count: number): void {
    this.line += count;
  }

  /** Takes in some of the records from an index on, which are no longer than any event. Returns the index of the first that is left. */
  takeRecords(records: RecordValues, from: number): number {
    const { bytes, count, starts, ends } = records;
    let to = from + 1;
    while (to < count && ends[to]! - starts[from]! <= SLICE_BYTES) to++;
    const slice = { ...records, count: to };
    const { converter } = this.#builder;
    for (let at = from; at < to; at++) {
      const before = converter.eventCount;
      at = converter.convertRecords(slice, at, (index) => digestId(bytes.subarray(starts[index], ends[index])));
      this.converted(converter.eventCount - before);
      if (at === to) break;
      this.event(bytes.subarray(starts[at], ends[at]));
      this.newlines(1);
    }
    return to;
  }

  /** Takes in some of the outcomes of records, from an index on. Returns the index of the first that is left. */
  takeMapped(input: MappedInput, from: number): number {
    if (input.kind === 'stray') {
      this.line = input.line;
      this.stray(input.bytes, input.reason);
      return 1;
    }
    const { piece, lineOf } = input;
    const { kinds, records, lineEnds, places } = piece;
    const { begin, end, to } = sliceOf(piece, from, SLICE_BYTES);
    const lines = Buffer.from(piece.lines.buffer, piece.lines.byteOffset + begin, end - begin);
    // Usual events are converted many at once, also across records that are none.
    let [at, converted] = [0, 0];
    for (let index = from; index < to; index++) {
      this.line = lineOf(records[index]!);
      if (kinds[index] === MAPPED.leftOut) {
        this.#leftOut += 1;
      } else if (kinds[index] === MAPPED.rejected) {
        const { reason, zoneId } = rejectionOf(piece, index);
        this.#reject(mappedLetterOf(piece, index), reason, zoneId);
      } else {
        if (converted === 0) {
          const before = this.#builder.eventCount;
          at = this.#builder.converter.convertLines(lines, at);
          converted = this.#builder.eventCount - before;
        }
        if (converted > 0) {
          converted -= 1;
          this.#accept(1);
          continue;
        }
        const next = lineEnds[index]! - begin;
        const verdict = this.#builder.tryEvent(lines.subarray(at, next - 1));
        this.#take(lines.subarray(places[index]! - begin, next - 2), verdict);
        at = next;
      }
    }
    return to;
  }

  report(): IntakeReport {
    const [accepted, expired, repaired, rejectedCount] = [this.#accepted, this.#expired, this.#repaired, this.#rejections.count];
    const rejected = this.#rejections.listed;
    const leftOut = this.#options.mapping === undefined ? {} : { leftOut: this.#leftOut };
    return { accepted, duplicates: this.appends.duplicates, expired, repaired, rejected, rejectedCount, ...leftOut };
  }

  /** Stores the events before the error, and resolves with the error to throw. One of the store, or of `admit`, goes first. */
  async stopped(error: unknown): Promise<unknown> {
    try {
      await this.appends.drained();
      this.append();
      await this.appends.drained();
    } catch (earlier) {
      return earlier;
    }
    if (error instanceof UnreadableInput) {
      return new IntakeError(error.code, error.message, this.report(), { cause: error });
    }
    const what = error instanceof Error ? error.message : String(error);
    return new IntakeError('source_failed', `the input broke off (${what})`, this.report(), { cause: error });
  }

  async untilStoreHasRoom(): Promise<void> {
    await storeHasRoom(this.#options.store, this.#options.signal);
  }

  /** Appends the events so far without waiting for the store. Throws the error of `admit`, also that of an earlier batch. */
  append(): void {
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (this.#builder.isEmpty) return;
    const batch = this.#builder.take();
    const indices = this.#indices;
    const noteStored = this.#rejections.takeBatch();
    this.#indices = { events: [], deadLetters: [] };
    try {
      this.#options.admit?.(batch, indices);
    } catch (error) {
      this.#refusal = { error };
      throw error;
    }
    this.appends.add(this.#options.store.append(batch), {
      onStored: ({ deadLettersNotKept }) => noteStored(deadLettersNotKept),
      onSettled: () => this.#builder.release(batch),
    });
  }

  /** Lets go of what the thread keeps of the input, also of one that was given up. */
  end(): void {
    this.#builder.converter.drain();
  }

  #accept(events: number): void {
    for (let event = 0; event < events; event++) {
      if (this.#options.admit !== undefined) this.#indices.events.push(this.seen);
      this.#accepted++;
    }
  }

  #reject(bytes: Uint8Array | LongPiece, reason: string, zoneId: number | null): void {
    this.#noteRejection(reason, zoneId);
    this.#builder.reject(this.#options.source, bytes, reason, zoneId, this.#options.mapping?.name);
  }

  /** To be called before the dead letter is added. Throws `UnreadableInput` where there are too many. */
  #noteRejection(reason: string, zoneId: number | null): void {
    const { maxRejected = MAX_REJECTED } = this.#options;
    if (this.#rejections.count >= maxRejected) {
      const what = this.#options.mapping === undefined ? 'events' : 'records';
      const limit = `more than ${maxRejected} ${what} would be rejected, which are allowed in one request`;
      throw new UnreadableInput('too_many_rejected', `line ${this.line}: ${limit} (${reason})`);
    }
    const index = this.seen;
    if (this.#options.admit !== undefined) this.#indices.deadLetters.push({ index, zoneId });
    const rejection = { index, line: this.line, reason };
    this.#options.memory?.hold('rejections', this.#rejections.bytesWith(rejection));
    this.#rejections.add(rejection);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { newlinesIn, OPEN_BRACKET } from '../../query/json-bytes.ts';
import type { EventBatch, EventStore } from '../../store/event-store.ts';
import { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { BatchBuilder, MAX_BATCH_BYTES } from '../event/batch-builder.ts';
import { type EventVerdict, tooLong } from '../event/event-verdict.ts';
import type { InputMemory, LongPiece } from '../event/partial-event.ts';
import { MAX_PENDING_BYTES, PendingAppends } from '../event/pending-appends.ts';
import { type EventReceiver, type EventSplitter, firstByteOf, JsonArraySplitter, NdjsonSplitter } from './event-splitters.ts';
import { IntakeError, type IntakeReport, MAX_REJECTED_LISTED, type RejectedEvent, UnreadableInput } from './intake-report.ts';
import { JsonTextSplitter } from './json-text-splitter.ts';

/** How often a batch that is not full is appended, so that events of a slow input are searchable before its end. */
const APPEND_EVERY_MS = 250;
/** Larger chunks are split in parts of this size: a splitter may look through all of a part for each event in it. */
export const PART_BYTES = 64 * 1024;
/** How often an input that waits for the store asks whether it may be read on. */
const PENDING_POLL_MS = 20;

/** What a rejected event takes in memory beside its reason, about. */
const REJECTION_BYTES = 64;

/** An input with more rejected events is probably not one of events, and is not read on. */
export const MAX_REJECTED = 10_000;

/** The indices in the input, from 0, of the events of a batch. */
export interface BatchIndices {
  /** The index of each event. */
  readonly events: readonly number[];
  /** The index of each dead letter, with the zone of its event; null where the zone could not be read. */
  readonly deadLetters: readonly { readonly index: number; readonly zoneId: number | null }[];
}

export interface IntakeOptions {
  readonly store: EventStore;
  readonly source: 'http' | 'file';
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** Every line is an event, also where the first byte of the input is a bracket. Default: a bracket begins an array. */
  readonly areLines?: boolean;
  /** Where it has not lines alone: objects may go over several lines, and arrays follow one another. Default: in a file. */
  readonly isJson?: boolean;
  /** The maximum length of the input, decompressed. Default: no limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Those of the program, which it shares with what else works on the main thread. Default: its own. */
  readonly turns?: MainThreadTurns;
  /** Checks each batch before it is stored. An error ends the intake, and neither that batch nor a later one is stored. */
  readonly admit?: (batch: EventBatch, indices: BatchIndices) => void;
  /** Counts what the input holds until its end. An error that it throws ends the intake, after the events before are stored. */
  readonly memory?: InputMemory;
  /** Called for each event of which so many texts are stored by their first bytes. */
  readonly onCutTexts?: (texts: number) => void;
  /** Called for each event whose `ip` is neither an address nor a network. */
  readonly onUnknownIp?: () => void;
  /** Called after each chunk with the totals so far. */
  readonly onProgress?: (bytes: number, events: number) => void;
}

/**
 * Stores the events of decompressed NDJSON, of one JSON array or of JSON texts, in bounded memory. Resolves when all accepted events are
 * durable and searchable. Rejects with IntakeError where the input breaks off or cannot be read further, after the events before are
 * stored; with the store's error where an append failed; with the error of `admit`; or with the signal's reason.
 */
export async function takeInEvents(chunks: AsyncIterable<Uint8Array>, options: IntakeOptions): Promise<IntakeReport> {
  const { signal, onProgress, turns = new MainThreadTurns(), maxBytes = Number.POSITIVE_INFINITY } = options;
  const intake = new Intake(options);
  const appending = setInterval(() => intake.appendIfIdle(), APPEND_EVERY_MS);
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      intake.requireAtMost(maxBytes, bytes + chunk.length);
      for (let start = 0; start < chunk.length; start += PART_BYTES) {
        const part = Buffer.from(chunk.buffer, chunk.byteOffset + start, Math.min(PART_BYTES, chunk.length - start));
        // The next chunks may be there already: nothing else ends the turn.
        await turns.run(() => intake.splitterOf(part)?.push(part, intake));
        await intake.untilStoreHasRoom();
        if (intake.isFull) {
          await intake.appends.room();
          // The store is asked in the same turn as it gets the batch, so that of several waiting intakes not all append at once.
          while (intake.isStoreBusy) await intake.untilStoreHasRoom();
          intake.append();
        }
        intake.throwRefusal();
      }
      bytes += chunk.length;
      onProgress?.(bytes, intake.seen);
    }
    await turns.run(() => intake.endInput());
    while (intake.isStoreBusy) await intake.untilStoreHasRoom();
    intake.append();
    intake.throwRefusal();
    await intake.appends.drained();
  } catch (error) {
    signal?.throwIfAborted();
    throw await intake.stopped(error);
  } finally {
    clearInterval(appending);
  }
  return intake.report();
}

/** The state of one intake. `takeInEvents` has it go on. */
class Intake implements EventReceiver {
  readonly #options: IntakeOptions;
  readonly #builder: BatchBuilder;
  readonly appends = new PendingAppends();
  #splitter: EventSplitter | undefined;
  #accepted = 0;
  #expired = 0;
  #repaired = 0;
  /** All rejected events, of which there are at most MAX_REJECTED. */
  readonly #rejected: RejectedEvent[] = [];
  #rejectedBytes = 0;
  /** The index in `#rejected` of the current batch's first dead letter. */
  #firstInBatch = 0;
  /** The current line, from 1. */
  #line = 1;
  /** The indices of the current batch; filled only for `admit`. */
  #indices: { readonly events: number[]; readonly deadLetters: BatchIndices['deadLetters'][number][] } = { events: [], deadLetters: [] };
  #refusal: { readonly error: unknown } | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options);
  }

  /** Events seen so far, accepted or not. */
  get seen(): number {
    return this.#accepted + this.#expired + this.#rejected.length;
  }

  get isFull(): boolean {
    return this.#builder.byteLength >= MAX_BATCH_BYTES;
  }

  get isStoreBusy(): boolean {
    return this.#options.store.pendingBytes() > MAX_PENDING_BYTES;
  }

  /** Throws where the input has more bytes than are allowed. */
  requireAtMost(maxBytes: number, bytes: number): void {
    if (bytes > maxBytes) {
      const message = `line ${this.#line}: the input is longer than ${maxBytes} bytes (decompressed), which are allowed in one request`;
      throw new UnreadableInput('input_too_long', message);
    }
  }

  /**
   * What splits the input from this part on: the first byte that is neither blank, NUL nor part of a byte order mark decides between an
   * array and lines. Undefined where there has been none; the newlines of the part are counted then.
   */
  splitterOf(part: Buffer): EventSplitter | undefined {
    const { areLines, isJson, source, memory } = this.#options;
    if (areLines !== true && (isJson ?? source === 'file')) {
      this.#splitter ??= new JsonTextSplitter(this.#builder.converter, memory);
    }
    if (this.#splitter === undefined) {
      const first = firstByteOf(part);
      if (first === undefined) {
        this.newlines(newlinesIn(part));
        return undefined;
      }
      const isArray = first === OPEN_BRACKET && areLines !== true;
      this.#splitter = isArray ? new JsonArraySplitter(memory) : new NdjsonSplitter(this.#builder.converter, memory);
    }
    return this.#splitter;
  }

  /** Takes in what the splitter holds. Throws where the input must not end here. */
  endInput(): void {
    this.#splitter?.end(this);
  }

  appendIfIdle(): void {
    if (this.appends.hasRoom && !this.isStoreBusy) {
      this.append();
    }
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
      const { reason, zoneId } = verdict;
      this.#noteRejection(reason, zoneId);
      this.#builder.reject(this.#options.source, bytes, reason, zoneId);
    }
  }

  converted(events: number): void {
    this.#accept(events);
    this.#line += events;
  }

  stray(bytes: Uint8Array, reason: string): void {
    this.#noteRejection(reason, null);
    this.#builder.reject(this.#options.source, bytes, reason, null);
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes)): void {
    this.#noteRejection(reason, null);
    this.#builder.reject(this.#options.source, piece, reason, null);
  }

  /** An element that was cut off becomes part of this error, not a dead letter. */
  unclosed(_bytes: Uint8Array | LongPiece, index: number): never {
    throw new UnreadableInput('unclosed_array', `the input ends inside a JSON array, in element ${index}: "]" is missing`);
  }

  newlines(count: number): void {
    this.#line += count;
  }

  report(): IntakeReport {
    const [accepted, expired, repaired, rejectedCount] = [this.#accepted, this.#expired, this.#repaired, this.#rejected.length];
    const rejected = this.#rejected.filter(({ kept }, index) => index < MAX_REJECTED_LISTED || kept === false);
    return { accepted, duplicates: this.appends.duplicates, expired, repaired, rejected, rejectedCount };
  }

  /** Stores the events before the error, and resolves with the error to throw. An error of the store goes first. */
  async stopped(error: unknown): Promise<unknown> {
    const drained = this.appends.drained();
    const failure = await drained.then(
      () => undefined,
      (storeError: unknown) => ({ storeError }),
    );
    if (failure !== undefined) {
      return failure.storeError;
    }
    this.append();
    if (this.#refusal !== undefined) {
      return this.#refusal.error;
    }
    await this.appends.drained();
    if (error instanceof UnreadableInput) {
      return new IntakeError(error.code, error.message, this.report(), { cause: error });
    }
    const what = error instanceof Error ? error.message : String(error);
    return new IntakeError('source_failed', `the input broke off (${what})`, this.report(), { cause: error });
  }

  /** Waits until the store has fewer pending bytes. */
  async untilStoreHasRoom(): Promise<void> {
    while (this.isStoreBusy) {
      await sleep(PENDING_POLL_MS, undefined, { signal: this.#options.signal });
    }
  }

  /** Appends the events so far without waiting for the store, unless `admit` has refused. */
  append(): void {
    if (this.#builder.isEmpty || this.#refusal !== undefined) {
      return;
    }
    const batch = this.#builder.take();
    const indices = this.#indices;
    const firstRejected = this.#firstInBatch;
    this.#firstInBatch = this.#rejected.length;
    this.#indices = { events: [], deadLetters: [] };
    try {
      this.#options.admit?.(batch, indices);
    } catch (error) {
      // `throwRefusal` throws it, because this may run in a timer.
      this.#refusal = { error };
      return;
    }
    this.appends.add(this.#options.store.append(batch), {
      onStored: ({ deadLettersNotKept }) => this.#noteNotKept(firstRejected, deadLettersNotKept),
      onSettled: () => this.#builder.release(batch),
    });
  }

  #noteNotKept(firstRejected: number, indices: readonly number[]): void {
    for (const index of indices) {
      const rejection = this.#rejected[firstRejected + index]!;
      this.#rejected[firstRejected + index] = { ...rejection, kept: false };
    }
  }

  /** Throws the error of `admit`, if there was one. */
  throwRefusal(): void {
    if (this.#refusal !== undefined) {
      throw this.#refusal.error;
    }
  }

  #accept(events: number): void {
    for (let event = 0; event < events; event++) {
      if (this.#options.admit !== undefined) this.#indices.events.push(this.seen);
      this.#accepted++;
    }
  }

  /** To be called before the dead letter is added. Throws `UnreadableInput` where there are too many. */
  #noteRejection(reason: string, zoneId: number | null): void {
    if (this.#rejected.length >= MAX_REJECTED) {
      const limit = `more than ${MAX_REJECTED} events would be rejected, which are allowed in one request`;
      throw new UnreadableInput('too_many_rejected', `line ${this.#line}: ${limit} (${reason})`);
    }
    const index = this.seen;
    if (this.#options.admit !== undefined) this.#indices.deadLetters.push({ index, zoneId });
    this.#rejectedBytes += REJECTION_BYTES + reason.length;
    this.#options.memory?.holdRejections(this.#rejectedBytes);
    this.#rejected.push({ index, line: this.#line, reason });
  }
}

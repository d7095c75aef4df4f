import { setTimeout as sleep, setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventBatch, EventStore } from '../../store/event-store.ts';
import { AppendWindow } from '../event/append-window.ts';
import { BatchBuilder } from '../event/batch-builder.ts';
import type { LongPiece } from '../event/partial-event.ts';
import { isBlank, newlinesIn, OPEN_BRACKET } from '../event/scan/json-bytes.ts';
import { tooLong } from '../event/scanned-events.ts';
import type { EventReceiver, EventSplitter } from './event-splitter.ts';
import { IntakeError } from './intake-error.ts';
import { type IntakeReport, LONGEST_REJECTED_LIST, type RejectedEvent } from './intake-report.ts';
import { JsonArraySplitter } from './json-array-splitter.ts';
import { NdjsonSplitter } from './ndjson-splitter.ts';
import { UnreadableInput } from './unreadable-input.ts';

export type { IntakeReport } from './intake-report.ts';

/**
 * A batch is handed to the store when it holds this much, and what has come by then this often: a slow input is searchable before it ends.
 */
const BATCH_BYTES = 16 * 1024 * 1024;
const HAND_OVER_EVERY_MS = 250;
const BATCHES_UNDER_WAY = 3;
/** A larger chunk is worked through in parts of this size. */
const PART_BYTES = 64 * 1024;
/** After so long everybody else has a turn: a chunk may be worked through without a wait, and so may the next one. */
const TURN_MS = 10;
/** All inputs together: none reads on while the store has more than this to do, so that many at the same time do not fill the memory. */
export const PENDING_LIMIT_BYTES = 64 * 1024 * 1024;
const LOOK_AGAIN_MS = 20;

/** An input with more events that are rejected is no input of events. */
export const MAX_REJECTED = 10_000;

/** Where what a batch holds stood in the input, counted from 0. */
export interface BatchIndices {
  /** One for each event. */
  readonly events: readonly number[];
  /** One for each dead letter, with the zone that its event would be in; null where none could be read. */
  readonly deadLetters: readonly { readonly index: number; readonly zoneId: number | null }[];
}

export interface IntakeOptions {
  readonly store: EventStore;
  readonly source: 'http' | 'file';
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** A longer input, decompressed, is not read on. Default: any length. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Looks at each batch before it is stored; what it throws ends the intake, and neither that batch nor a later one is stored. */
  readonly admit?: (batch: EventBatch, indices: BatchIndices) => void;
  /** Told after each chunk how much was read so far. */
  readonly onProgress?: (bytes: number, events: number) => void;
}

/**
 * Takes in NDJSON or one JSON array, already decompressed. Resolves when all accepted events are durable and searchable. Memory stays
 * bounded however long the input is. Rejects with `IntakeError` where the input breaks off or makes no sense (what came before is stored
 * then), with the store's error where an append failed, with what `admit` threw, with the signal's reason when aborted.
 */
export async function takeInEvents(chunks: AsyncIterable<Uint8Array>, options: IntakeOptions): Promise<IntakeReport> {
  const intake = new Intake(options);
  const handingOver = setInterval(() => intake.handOverIfIdle(), HAND_OVER_EVERY_MS);
  try {
    await intake.readAll(chunks);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw await intake.stopped(error);
  } finally {
    clearInterval(handingOver);
  }
  return intake.report();
}

class Intake implements EventReceiver {
  readonly #options: IntakeOptions;
  readonly #builder: BatchBuilder;
  readonly #appends: AppendWindow;
  #splitter: EventSplitter | undefined;
  #accepted = 0;
  #expired = 0;
  /** All of them: their number is bounded. */
  readonly #rejected: RejectedEvent[] = [];
  /** Where in that list the dead letters of the batch begin that is being built. */
  #batchRejected = 0;
  /** The line that the input has come to, counted from 1. */
  #line = 1;
  /** Of the batch that is being built; kept only for those who look at it. */
  #indices: { readonly events: number[]; readonly deadLetters: BatchIndices['deadLetters'][number][] } = { events: [], deadLetters: [] };
  #refusal: { readonly error: unknown } | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options);
    this.#appends = new AppendWindow(options.store, BATCHES_UNDER_WAY);
  }

  async readAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { signal, onProgress, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    let bytes = 0;
    let turnBegan = performance.now();
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      if (bytes + chunk.length > maxBytes) {
        const message = `line ${this.#line}: the input is longer than ${maxBytes} bytes (decompressed), which are allowed in one request`;
        throw new UnreadableInput('input_too_long', message);
      }
      for (let start = 0; start < chunk.length; start += PART_BYTES) {
        this.#push(Buffer.from(chunk.buffer, chunk.byteOffset + start, Math.min(PART_BYTES, chunk.length - start)));
        await this.#handOverIfFull();
        this.#throwRefusal();
        if (performance.now() - turnBegan > TURN_MS) {
          await yieldToOthers();
          turnBegan = performance.now();
        }
      }
      bytes += chunk.length;
      onProgress?.(bytes, this.#seen);
    }
    this.#splitter?.end(this);
    await this.#handOverInTurn();
    this.#throwRefusal();
    await this.#appends.drained();
  }

  handOverIfIdle(): void {
    if (this.#appends.hasRoom && !this.#storeIsBehind) {
      this.#handOver();
    }
  }

  event(bytes: Uint8Array): void {
    const verdict = this.#builder.tryEvent(bytes);
    if (verdict.kind === 'accepted') {
      this.#accept(1);
    } else if (verdict.kind === 'expired') {
      this.#expired++;
    } else {
      const { reason, zoneId } = verdict;
      this.#noteRejection(reason, zoneId);
      this.#builder.reject(this.#options.source, bytes, reason, zoneId);
    }
  }

  lines(chunk: Buffer, other: (line: Uint8Array) => void): number {
    const added = (events: number): void => {
      this.#accept(events);
      this.#line += events;
    };
    return this.#builder.addLines(chunk, { added, other });
  }

  stray(bytes: Uint8Array, reason: string): void {
    this.#noteRejection(reason, null);
    this.#builder.reject(this.#options.source, bytes, reason, null);
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes)): void {
    this.#noteRejection(reason, null);
    this.#builder.rejectLong(this.#options.source, piece, reason);
  }

  newlines(count: number): void {
    this.#line += count;
  }

  report(): IntakeReport {
    const [accepted, expired, rejectedCount] = [this.#accepted, this.#expired, this.#rejected.length];
    const rejected = this.#rejected.filter(({ kept }, place) => place < LONGEST_REJECTED_LIST || kept === false);
    return { accepted, duplicates: this.#appends.duplicates, expired, rejected, rejectedCount };
  }

  /** Stores what was read before the error and turns it into one that says so; an error of the store itself is handed on. */
  async stopped(error: unknown): Promise<unknown> {
    const drained = this.#appends.drained();
    const failure = await drained.then(
      () => undefined,
      (storeError: unknown) => ({ storeError }),
    );
    if (failure !== undefined) {
      return failure.storeError;
    }
    this.#handOver();
    if (this.#refusal !== undefined) {
      return this.#refusal.error;
    }
    await this.#appends.drained();
    if (error instanceof UnreadableInput) {
      return new IntakeError(error.code, error.message, this.report(), { cause: error });
    }
    const what = error instanceof Error ? error.message : String(error);
    return new IntakeError('source_failed', `the input broke off (${what})`, this.report(), { cause: error });
  }

  get #seen(): number {
    return this.#accepted + this.#expired + this.#rejected.length;
  }

  /** The first byte that is not blank, or a byte order mark, tells an array from lines. */
  #push(part: Buffer): void {
    if (this.#splitter === undefined) {
      const first = part.find((byte) => !isBlank(byte) && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
      if (first === undefined) {
        this.newlines(newlinesIn(part));
        return;
      }
      this.#splitter = first === OPEN_BRACKET ? new JsonArraySplitter() : new NdjsonSplitter();
    }
    this.#splitter.push(part, this);
  }

  async #handOverIfFull(): Promise<void> {
    await this.#storeCatchesUp();
    if (this.#builder.byteLength >= BATCH_BYTES) {
      await this.#appends.room();
      await this.#handOverInTurn();
    }
  }

  get #storeIsBehind(): boolean {
    return this.#options.store.pendingBytes() > PENDING_LIMIT_BYTES;
  }

  /** What is pending becomes less by itself, stored or refused, so this ends. */
  async #storeCatchesUp(): Promise<void> {
    while (this.#storeIsBehind) {
      await sleep(LOOK_AGAIN_MS, undefined, { signal: this.#options.signal });
    }
  }

  /** Nothing comes between the last look and the batch: several that look at the same time do not all go. */
  async #handOverInTurn(): Promise<void> {
    while (this.#storeIsBehind) {
      await this.#storeCatchesUp();
    }
    this.#handOver();
  }

  #handOver(): void {
    if (this.#builder.isEmpty || this.#refusal !== undefined) {
      return;
    }
    const batch = this.#builder.take();
    const indices = this.#indices;
    const firstRejected = this.#batchRejected;
    this.#batchRejected = this.#rejected.length;
    this.#indices = { events: [], deadLetters: [] };
    try {
      this.#options.admit?.(batch, indices);
    } catch (error) {
      // Thrown where the input is read: this may run beside that.
      this.#refusal = { error };
      return;
    }
    this.#appends.start(
      batch,
      ({ deadLettersNotKept }) => this.#noteNotKept(firstRejected, deadLettersNotKept),
      () => this.#builder.release(batch),
    );
  }

  #noteNotKept(firstRejected: number, places: readonly number[]): void {
    for (const place of places) {
      const rejection = this.#rejected[firstRejected + place]!;
      this.#rejected[firstRejected + place] = { ...rejection, kept: false };
    }
  }

  #throwRefusal(): void {
    if (this.#refusal !== undefined) {
      throw this.#refusal.error;
    }
  }

  #accept(events: number): void {
    for (let event = 0; event < events; event++) {
      if (this.#options.admit !== undefined) this.#indices.events.push(this.#seen);
      this.#accepted++;
    }
  }

  /** To be called before the dead letter is added, because it throws `UnreadableInput` where there are too many. */
  #noteRejection(reason: string, zoneId: number | null): void {
    if (this.#rejected.length >= MAX_REJECTED) {
      const message = `line ${this.#line}: more than ${MAX_REJECTED} events would be rejected, which are allowed in one request (${reason})`;
      throw new UnreadableInput('too_many_rejected', message);
    }
    const index = this.#seen;
    if (this.#options.admit !== undefined) this.#indices.deadLetters.push({ index, zoneId });
    this.#rejected.push({ index, line: this.#line, reason });
  }
}

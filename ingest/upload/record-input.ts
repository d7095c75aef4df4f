import { isBlank, OPEN_BRACE } from '../../query/json-bytes.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { behindBrackets } from '../doors/json-brackets.ts';
import { LARGEST_EVENT_BYTES, tooLong } from '../event/event-verdict.ts';
import { type InputMemory, LongPiece } from '../event/partial-event.ts';
import { type EventReceiver, NO_LINES } from './event-splitters.ts';
import { type InputForm, InputSplitter, PART_BYTES } from './input-splitter.ts';
import { MAX_REJECTED, requireAtMost, unclosedArray } from './intake-report.ts';
import type { MappedPiece, RecordBatch, RecordZones } from './mapped-pieces.ts';
import { MAX_BYTES_HERE, type MappingThreads, type UnderWay } from './mapping-threads.ts';

/** Records are mapped together up to so many bytes, unless one is longer. It is the size of a chunk. */
const BATCH_BYTES = 256 * 1024;
/** A record waits so long at most for others to be mapped with. */
const COLLECT_MS = 100;
/** Batches of one input that are under way, so that a thread maps one while the next is read. */
const MAX_AHEAD = 2;
/** What the place of a record takes in memory beside its bytes, about. */
const PLACE_BYTES = 16;

/** How the records of an input become events. */
export interface InputMapping {
  readonly threads: MappingThreads;
  /** The name of one of its mappings. */
  readonly name: string;
  readonly zones: RecordZones;
  /** What is added to the time of each event, in milliseconds. Default: nothing. */
  readonly movedByMs?: number;
  /** So long its records wait for a thread. Default: as long as it takes. */
  readonly waitMs?: number;
}

/** What has become of records of an input, or bytes of it that are no record. */
export type MappedInput = { readonly kind: 'mapped'; readonly piece: MappedPiece; readonly lineOf: (record: number) => number } | Stray;

interface Stray {
  readonly kind: 'stray';
  readonly bytes: Uint8Array | LongPiece;
  readonly reason: string;
  readonly line: number;
}

interface Collected {
  readonly kind: 'records';
  readonly batch: RecordBatch;
  /** The line of each record. */
  readonly lines: readonly number[];
}

/** Collects the records of an input from its splitter, in batches. */
class RecordCollector implements EventReceiver {
  readonly #mapping: InputMapping;
  readonly #memory: InputMemory | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  #length = 0;
  #ends: number[] = [];
  #lines: number[] = [];
  #sinceMs = 0;
  #strays = 0;
  /** What is collected, in the order of the input. */
  readonly closed: (Collected | Stray)[] = [];
  /** The current line, from 1. */
  line = 1;

  constructor(mapping: InputMapping, memory: InputMemory | undefined) {
    [this.#mapping, this.#memory] = [mapping, memory];
  }

  /** Milliseconds until the records have waited long enough for others; null where there are none. */
  get dueInMs(): number | null {
    return this.#ends.length === 0 ? null : Math.max(0, this.#sinceMs + COLLECT_MS - performance.now());
  }

  /** Reports what is held. Throws where the memory has no room for it. */
  hold(): void {
    const closed = this.closed.reduce((sum, one) => sum + (one.kind === 'records' ? one.batch.bytes.length : lengthOf(one.bytes)), 0);
    this.#memory?.hold('records', closed + this.#chunk.length + this.#ends.length * PLACE_BYTES);
  }

  event(bytes: Uint8Array): void {
    if (this.#length + bytes.length > BATCH_BYTES || this.#ends.length >= BATCH_BYTES / PLACE_BYTES) this.close();
    if (this.#ends.length === 0) this.#sinceMs = performance.now();
    this.#makeRoom(this.#length + bytes.length);
    this.#chunk.set(bytes, this.#length);
    this.#length += bytes.length;
    this.#ends.push(this.#length);
    this.#lines.push(this.line);
  }

  tryEvent(bytes: Uint8Array): boolean {
    const isTaken = isClosed(bytes);
    if (isTaken) this.event(bytes);
    return isTaken;
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes, 'record')): void {
    this.stray(piece, reason);
  }

  stray(bytes: Uint8Array | LongPiece, reason: string): void {
    // Who takes them in goes no further.
    if (this.#strays > MAX_REJECTED) return;
    this.#strays += 1;
    this.close();
    this.closed.push({ kind: 'stray', bytes: bytes instanceof LongPiece ? bytes : Uint8Array.from(bytes), reason, line: this.line });
  }

  unclosed(_bytes: Uint8Array | LongPiece, index: number): never {
    throw unclosedArray(index);
  }

  converted(): void {}

  newlines(count: number): void {
    this.line += count;
  }

  /** Ends the batch: what comes next is another. */
  close(): void {
    if (this.#ends.length === 0) return;
    const { name: mapping, zones, movedByMs } = this.#mapping;
    const ends = new Uint32Array(this.#ends);
    const batch: RecordBatch = { mapping, zones, movedByMs, bytes: this.#chunk.subarray(0, this.#length), ends };
    this.closed.push({ kind: 'records', batch, lines: this.#lines });
    [this.#ends, this.#lines] = [[], []];
    [this.#chunk, this.#length] = [new Uint8Array(0), 0];
  }

  /** Few records are mapped here, or copied to a thread: memory that threads share is for more. */
  #makeRoom(bytes: number): void {
    if (bytes <= this.#chunk.length) return;
    const { chunks } = this.#mapping.threads;
    const larger = bytes <= MAX_BYTES_HERE ? new Uint8Array(Math.min(MAX_BYTES_HERE, 2 * bytes)) : chunks.take(bytes);
    larger.set(this.#chunk.subarray(0, this.#length));
    chunks.giveBack(this.#chunk);
    this.#chunk = larger;
  }
}

/** Whether a text that begins with a brace ends where that is closed, or is too long for it to matter. Whether it is JSON shows later. */
function isClosed(text: Uint8Array): boolean {
  if (text.length > LARGEST_EVENT_BYTES) return true;
  const end = behindBrackets(text, text.indexOf(OPEN_BRACE));
  return end > 0 && text.subarray(end).every(isBlank);
}

function lengthOf(bytes: Uint8Array | LongPiece): number {
  return (bytes instanceof LongPiece ? bytes.start : bytes).length;
}

export interface RecordInputOptions extends InputForm {
  readonly mapping: InputMapping;
  readonly turns: MainThreadTurns;
  /** The maximum length of the input, decompressed. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A batch that is being mapped. */
interface Begun {
  readonly kind: 'begun';
  readonly underWay: UnderWay;
  readonly lines: readonly number[];
}

/** What an input goes on with: a part of it, its error, a batch that is mapped, or records that have waited long enough. */
type Happened =
  | { readonly kind: 'part'; readonly part: IteratorResult<Buffer, void> }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'mapped' }
  | { readonly kind: 'due' };

/**
 * What becomes of the records of decompressed lines or of JSON texts, in their order. It reads on only while few batches are
 * under way. An error that ends the input, of its source, of what it may hold, or UnreadableInput, is thrown behind what came before it.
 */
export async function* mappedInput(chunks: AsyncIterable<Uint8Array>, options: RecordInputOptions): AsyncGenerator<MappedInput, void> {
  const input = new RecordInput(chunks, options);
  try {
    for (;;) {
      const oldest = await input.oldest();
      if (oldest === null) return;
      yield* oldest.kind === 'stray' ? [oldest] : mappedPiecesOf(oldest.underWay, (record) => oldest.lines[record] ?? 0);
    }
  } finally {
    await input.giveUp();
  }
}

/** The state of an input whose records are mapped. */
class RecordInput {
  readonly #options: RecordInputOptions;
  readonly #collector: RecordCollector;
  readonly #splitter: InputSplitter;
  readonly #parts: AsyncGenerator<Buffer, void>;
  readonly #ahead: (Begun | Stray)[] = [];
  #coming: Promise<Happened> | null = null;
  #end: { readonly failure: { readonly error: unknown } | null } | null = null;

  constructor(chunks: AsyncIterable<Uint8Array>, options: RecordInputOptions) {
    this.#options = options;
    this.#collector = new RecordCollector(options.mapping, options.memory);
    this.#splitter = new InputSplitter(options, NO_LINES);
    this.#parts = partsOf(chunks, (bytes) => requireAtMost(options.maxBytes, bytes, this.#collector.line));
  }

  /** Reads on until the oldest batch is mapped, or has to be waited for; null at the end. Throws what ends the input. */
  async oldest(): Promise<Begun | Stray | null> {
    for (;;) {
      await this.#begin();
      const [oldest] = this.#ahead;
      if (oldest === undefined && this.#end !== null) {
        if (this.#end.failure !== null) throw this.#end.failure.error;
        return null;
      }
      const mustWait = this.#end !== null || this.#collector.closed.length > 0;
      if (oldest !== undefined && (oldest.kind === 'stray' || mustWait || (await this.#isMappedFirst(oldest)))) {
        this.#ahead.shift();
        return oldest;
      }
      if (oldest === undefined) await this.#goOn(await this.#next(null));
    }
  }

  async giveUp(): Promise<void> {
    for (const one of this.#ahead) if (one.kind === 'begun') one.underWay[Symbol.dispose]();
    // An iterator that waits for a chunk cannot be ended before that chunk has come.
    if (this.#coming === null) await this.#parts.return();
  }

  /** Begins to map what is collected, as far as there is room for it. */
  async #begin(): Promise<void> {
    const { mapping, turns, signal } = this.#options;
    const { closed } = this.#collector;
    while (closed.length > 0 && (this.#ahead.length === 0 || (this.#ahead.length < MAX_AHEAD && mapping.threads.hasRoom))) {
      const next = closed.shift()!;
      if (next.kind === 'stray') {
        this.#ahead.push(next);
      } else {
        // A small batch is mapped at once.
        const underWay = await turns.run(() => mapping.threads.begin(next.batch, signal, mapping.waitMs));
        this.#ahead.push({ kind: 'begun', underWay, lines: next.lines });
      }
    }
  }

  /** Reads on unless the batch is mapped before. */
  async #isMappedFirst({ underWay }: Begun): Promise<boolean> {
    const happened = await this.#next(underWay.made);
    if (happened.kind === 'mapped') return true;
    await this.#goOn(happened);
    return false;
  }

  /** What happens first. `mapped` is null where no batch is under way. */
  async #next(mapped: Promise<unknown> | null): Promise<Happened> {
    this.#coming ??= comingOf(this.#parts);
    const { promise: due, resolve } = Promise.withResolvers<Happened>();
    const { dueInMs } = this.#collector;
    const timer = dueInMs === null ? undefined : setTimeout(resolve, dueInMs, { kind: 'due' });
    try {
      return await Promise.race([this.#coming, due, ...(mapped === null ? [] : [mapped.then((): Happened => ({ kind: 'mapped' }))])]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Collects the records of a part. What is collected at the end of the input is a batch, too, also where an error ends it. */
  async #goOn(happened: Happened): Promise<void> {
    const { turns } = this.#options;
    try {
      if (happened.kind === 'due') {
        this.#collector.close();
      } else {
        this.#coming = null;
        if (happened.kind === 'failed') throw happened.error;
        if (happened.kind === 'part') await turns.run(() => this.#read(happened.part));
      }
      this.#collector.hold();
    } catch (error) {
      this.#end = { failure: { error } };
    }
    if (this.#end !== null) this.#collector.close();
  }

  #read(part: IteratorResult<Buffer, void>): void {
    if (part.done === true) {
      this.#splitter.end(this.#collector);
      this.#end = { failure: null };
    } else {
      this.#splitter.push(part.value, this.#collector);
    }
  }
}

/** What becomes of records that are being mapped, in pieces; they are disposed at the end. `lineOf` tells the line of each record. */
export async function* mappedPiecesOf(underWay: UnderWay, lineOf: (record: number) => number): AsyncGenerator<MappedInput, void> {
  using pieces = underWay;
  for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) yield { kind: 'mapped', piece, lineOf };
}

/** The chunks in parts. `requireBytes` throws where there are more than are allowed. */
async function* partsOf(chunks: AsyncIterable<Uint8Array>, requireBytes: (bytes: number) => void): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    requireBytes(bytes);
    for (let start = 0; start < chunk.length; start += PART_BYTES) {
      yield Buffer.from(chunk.buffer, chunk.byteOffset + start, Math.min(PART_BYTES, chunk.length - start));
    }
  }
}

/** The next part of an input. Never rejects. */
function comingOf(parts: AsyncGenerator<Buffer, void>): Promise<Happened> {
  return parts.next().then(
    (part) => ({ kind: 'part', part }),
    (error: unknown) => ({ kind: 'failed', error }),
  );
}

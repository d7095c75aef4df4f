import { readFileSync } from 'node:fs';
import { BATCH_COLUMNS } from '../../query/batch-columns.ts';
import type { EventCollector } from './event-collector.ts';
import type { AllowedTimes } from './event-verdict.ts';
import { digestId } from './log-id.ts';

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly longestEvent: () => number;
  readonly longestGivenId: () => number;
  readonly roomForEvents: () => number;
  readonly inputAt: () => number;
  readonly givenIdAt: () => number;
  readonly endsAt: () => number;
  readonly eventStart: () => number;
  readonly eventEnd: () => number;
  readonly convert: (length: number, earliestMs: number, latestMs: number) => number;
  readonly appendWithId: (idLength: number) => void;
  readonly linesAt: () => number;
  readonly convertLines: (at: number, end: number, earliestMs: number, latestMs: number) => number;
  readonly convertedLines: () => number;
  readonly linesStoppedAt: () => number;
}

/** The part that is used here: Node's types leave WebAssembly to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const MODULE = new WebAssembly.Module(readFileSync(new URL('./kernel/event-kernel.wasm', import.meta.url)));

/** Verdicts of the kernel's `convert` and `convertLines`. */
const NOT_TAKEN = 0;
const NEEDS_ID = 2;
const NO_LINE = 3;

/** The masks and the logs follow the columns. */
const MASKS = BATCH_COLUMNS.length;
const LOGS = MASKS + 1;

/** UTF-8 bytes of a UTF-16 unit. */
const MAX_CHARACTER_BYTES = 3;

/**
 * Writes the columns and packed logs of events in their usual form, in WebAssembly (the source is in `kernel/assembly/`). It declines every
 * other event, also one that breaks a rule, without a reason: `EventScanner` reads those, and would write the same for the usual ones. It
 * keeps some hundred events in its own memory. An instance takes some 130 µs to make and 10 GB of address space, though next to no memory.
 */
export class EventKernel {
  readonly #exports: KernelExports;
  /** The kernel's memory, which never grows. */
  readonly #memory: Buffer;
  readonly #inputAt: number;
  readonly #linesAt: number;
  readonly #givenIdAt: number;
  readonly #longestEvent: number;
  readonly #longestGivenId: number;
  readonly #roomForEvents: number;
  /** The addresses of the ends of the kernel's columns, and of their starts. */
  readonly #ends: Uint32Array;
  readonly #starts: Uint32Array;
  /** Bytes of the events that the kernel keeps, with the ids that were given for them. */
  #eventBytes = 0;
  #eventCount = 0;
  /** The chunk whose lines are converted at the moment; the memory holds the bytes of this block of it. */
  #chunk: Buffer | null = null;
  #blockStart = 0;
  #blockEnd = 0;
  /** `convertLines` has stopped at a line that it declined. */
  #hasDeclined = false;

  /** Throws a `RangeError` where there is no more address space. */
  constructor() {
    this.#exports = new WebAssembly.Instance(MODULE).exports;
    const { memory, endsAt } = this.#exports;
    this.#memory = Buffer.from(memory.buffer);
    this.#ends = new Uint32Array(memory.buffer, endsAt(), LOGS + 1);
    this.#starts = this.#ends.slice();
    this.#inputAt = this.#exports.inputAt();
    this.#linesAt = this.#exports.linesAt();
    this.#givenIdAt = this.#exports.givenIdAt();
    this.#longestEvent = this.#exports.longestEvent();
    this.#longestGivenId = this.#exports.longestGivenId();
    this.#roomForEvents = this.#exports.roomForEvents();
  }

  /**
   * Adds the event to those that the kernel keeps, which go into `events` where there is no room; false where the kernel declines it,
   * or has declined its line in `convertLines` just now. `sourceId` is as for `EventConverter`.
   */
  convert(bytes: Uint8Array, sourceId: (() => string) | null, { earliestMs, latestMs }: AllowedTimes, events: EventCollector): boolean {
    if (this.#hasDeclined || bytes.length > this.#longestEvent) {
      this.#hasDeclined = false;
      return false;
    }
    this.#chunk = null;
    this.#makeRoom(bytes.length, events);
    this.#memory.set(bytes, this.#inputAt);
    const verdict = this.#exports.convert(bytes.length, earliestMs, latestMs);
    if (verdict === NOT_TAKEN || (verdict === NEEDS_ID && !this.#appendWithId(sourceId))) {
      return false;
    }
    this.#eventBytes += bytes.length;
    this.#eventCount += 1;
    return true;
  }

  /**
   * Adds the events of the lines from `from` on. Returns the start of the first line that it does not add: one that it declines, one that
   * is longer than its memory, or one that does not end in the chunk. The call after a declined line goes on behind it.
   */
  convertLines(chunk: Buffer, from: number, { earliestMs, latestMs }: AllowedTimes, events: EventCollector): number {
    const { convertLines, convertedLines, linesStoppedAt } = this.#exports;
    this.#hasDeclined = false;
    for (let at = from; ; ) {
      if (this.#chunk !== chunk || at < this.#blockStart || at > this.#blockEnd) {
        const block = chunk.subarray(at, at + this.#longestEvent);
        this.#makeRoom(block.length, events);
        this.#memory.set(block, this.#linesAt);
        [this.#chunk, this.#blockStart, this.#blockEnd] = [chunk, at, at + block.length];
      }
      const chunkAt = this.#linesAt - this.#blockStart;
      const verdict = convertLines(chunkAt + at, chunkAt + this.#blockEnd, earliestMs, latestMs);
      const stopped = linesStoppedAt() - chunkAt;
      this.#eventBytes += stopped - at;
      this.#eventCount += convertedLines();
      at = stopped;
      if (verdict === NEEDS_ID) {
        // There is room: the digest of an event is shorter than the event.
        this.#appendWithId(null);
        this.#eventCount += 1;
      } else if (verdict === NO_LINE) {
        this.#chunk = null;
        if (at === this.#blockStart) {
          return at;
        }
      } else {
        this.#hasDeclined = true;
        return at;
      }
    }
  }

  /** The number of events that the kernel keeps. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** Bytes of the columns and logs of the events that the kernel keeps. */
  get byteLength(): number {
    return this.#ends.reduce((sum, end, column) => sum + end - this.#starts[column]!, 0);
  }

  /** Moves the events that the kernel keeps into `events`. To be called before anything else is added there. */
  drain(events: EventCollector): void {
    if (this.#eventBytes === 0) {
      return;
    }
    const { fields, logs } = events;
    for (const [index, column] of fields.columns.entries()) {
      column.copy(this.#memory, this.#starts[index]!, this.#ends[index]!);
    }
    fields.masks.copy(this.#memory, this.#starts[MASKS]!, this.#ends[MASKS]!);
    logs.appendLines(this.#memory, this.#starts[LOGS]!, this.#ends[LOGS]!);
    events.count += this.#eventCount;
    this.#ends.set(this.#starts);
    this.#eventBytes = 0;
    this.#eventCount = 0;
  }

  /** Makes room for events of so many bytes, and an id. */
  #makeRoom(bytes: number, events: EventCollector): void {
    if (this.#eventBytes + bytes + this.#longestGivenId > this.#roomForEvents) {
      this.drain(events);
    }
  }

  /** False where the id is longer than the kernel takes. */
  #appendWithId(sourceId: (() => string) | null): boolean {
    const { eventStart, eventEnd, appendWithId } = this.#exports;
    const logId = sourceId?.() ?? digestId(this.#memory.subarray(eventStart(), eventEnd()));
    if (logId.length * MAX_CHARACTER_BYTES > this.#longestGivenId) {
      return false;
    }
    const idBytes = this.#memory.write(logId, this.#givenIdAt);
    appendWithId(idBytes);
    this.#eventBytes += idBytes;
    return true;
  }
}

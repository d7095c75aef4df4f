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
  readonly mostRecords: () => number;
  readonly recordStartsAt: () => number;
  readonly recordEndsAt: () => number;
  readonly convertRecords: (from: number, end: number, shift: number, earliestMs: number, latestMs: number) => number;
  readonly converted: () => number;
  readonly stoppedAt: () => number;
}

/** The part that is used here: Node's types leave WebAssembly to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const MODULE = new WebAssembly.Module(readFileSync(new URL('./kernel/event-kernel.wasm', import.meta.url)));

/** Verdicts of the kernel's `convert`, `convertLines` and `convertRecords`. */
const NOT_TAKEN = 0;
const NEEDS_ID = 2;
const NO_MORE = 3;

/** The masks and the logs follow the columns. */
const MASKS = BATCH_COLUMNS.length;
const LOGS = MASKS + 1;

/** UTF-8 bytes of a UTF-16 unit. */
const MAX_CHARACTER_BYTES = 3;

/** Values that may be events, one after the other in `bytes`; one that is absent starts at -1. */
export interface RecordValues {
  readonly bytes: Buffer;
  /** The number of values: the arrays may be longer. */
  readonly count: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/**
 * Writes the columns and packed logs of events in their usual form, in WebAssembly (the source is in `kernel/assembly/`). It declines every
 * other event, also one that breaks a rule, without a reason: `EventScanner` reads those, and would write the same for the usual ones. It
 * keeps some hundred events of one collector in its own memory; when events of another come, these go to theirs. So all inputs of a thread
 * share one instance. Each takes some 130 µs to make, 10 GB of address space, and 1.7 MB of the 64 that V8 collects its whole heap for.
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
  /** Whose events the kernel keeps. */
  #events: EventCollector | null = null;
  /** Bytes of the events that the kernel keeps, with the ids that were given for them. */
  #eventBytes = 0;
  #eventCount = 0;
  /** The chunk whose lines or records are converted at the moment; the memory holds the bytes of this block of it. */
  #chunk: Buffer | null = null;
  #blockStart = 0;
  #blockEnd = 0;
  /** The records of the chunk whose places the memory has; they lie in the block. */
  readonly #recordStarts: Uint32Array;
  readonly #recordEnds: Uint32Array;
  #firstRecord = 0;
  #endRecord = 0;
  /** `convertLines` or `convertRecords` has stopped at an event that the kernel declined. */
  #hasDeclined = false;

  /** Throws a `RangeError` where there is no more address space. */
  constructor() {
    this.#exports = new WebAssembly.Instance(MODULE).exports;
    const { memory, endsAt } = this.#exports;
    this.#memory = Buffer.from(memory.buffer);
    this.#ends = new Uint32Array(memory.buffer, endsAt(), LOGS + 1);
    this.#starts = this.#ends.slice();
    const { mostRecords, recordStartsAt, recordEndsAt } = this.#exports;
    this.#recordStarts = new Uint32Array(memory.buffer, recordStartsAt(), mostRecords());
    this.#recordEnds = new Uint32Array(memory.buffer, recordEndsAt(), mostRecords());
    this.#inputAt = this.#exports.inputAt();
    this.#linesAt = this.#exports.linesAt();
    this.#givenIdAt = this.#exports.givenIdAt();
    this.#longestEvent = this.#exports.longestEvent();
    this.#longestGivenId = this.#exports.longestGivenId();
    this.#roomForEvents = this.#exports.roomForEvents();
  }

  /**
   * Adds the event to those that the kernel keeps, which go into `events` where there is no room; false where the kernel declines it,
   * or has declined it in `convertLines` or `convertRecords` just now. `sourceId` is as for `EventConverter`.
   */
  convert(bytes: Uint8Array, sourceId: (() => string) | null, { earliestMs, latestMs }: AllowedTimes, events: EventCollector): boolean {
    this.#workFor(events);
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
    const { convertLines, converted, stoppedAt } = this.#exports;
    this.#workFor(events);
    this.#hasDeclined = false;
    for (let at = from; ; ) {
      if (this.#chunk !== chunk || at < this.#blockStart || at > this.#blockEnd) {
        this.#load(chunk, at, events);
      }
      const chunkAt = this.#linesAt - this.#blockStart;
      const verdict = convertLines(chunkAt + at, chunkAt + this.#blockEnd, earliestMs, latestMs);
      const stopped = stoppedAt() - chunkAt;
      this.#eventBytes += stopped - at;
      this.#eventCount += converted();
      at = stopped;
      if (verdict === NEEDS_ID) {
        // There is room: the digest of an event is shorter than the event.
        this.#appendWithId(null);
        this.#eventCount += 1;
      } else if (verdict === NO_MORE) {
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

  /**
   * Adds the events among the values from the index `from` on. Returns the index of the first that it does not add: one that is absent, one
   * that it declines, or one that is longer than its memory. `sourceId` is as for `EventConverter`.
   */
  convertRecords(
    records: RecordValues,
    from: number,
    sourceId: (index: number) => string,
    { earliestMs, latestMs }: AllowedTimes,
    events: EventCollector,
  ): number {
    const { convertRecords, converted, stoppedAt } = this.#exports;
    const { bytes, count, ends } = records;
    this.#workFor(events);
    this.#hasDeclined = false;
    for (let index = from; index < count; ) {
      if (this.#chunk !== bytes || index < this.#firstRecord || index >= this.#endRecord) {
        this.#loadRecords(records, index, events);
        if (index === this.#endRecord) {
          return index;
        }
      }
      const first = this.#firstRecord;
      const shift = this.#linesAt - this.#blockStart;
      const verdict = convertRecords(index - first, this.#endRecord - first, shift, earliestMs, latestMs);
      const stopped = first + stoppedAt();
      if (stopped > index) {
        this.#eventBytes += ends[stopped - 1]! - records.starts[index]!;
      }
      this.#eventCount += converted();
      index = stopped;
      if (verdict === NOT_TAKEN || (verdict === NEEDS_ID && !this.#appendWithId(() => sourceId(stopped - 1)))) {
        this.#hasDeclined = true;
        return verdict === NOT_TAKEN ? index : index - 1;
      }
      if (verdict === NEEDS_ID) {
        this.#eventCount += 1;
        // An id may be longer than its event.
        this.#makeRoom(this.#blockEnd - ends[stopped - 1]!, events);
      }
    }
    this.#chunk = null;
    return count;
  }

  /** The number of events that the kernel keeps for a collector. */
  eventCountFor(events: EventCollector): number {
    return this.#events === events ? this.#eventCount : 0;
  }

  /** Bytes of the columns and logs of the events that the kernel keeps for a collector. */
  byteLengthFor(events: EventCollector): number {
    return this.#events === events ? this.#ends.reduce((sum, end, column) => sum + end - this.#starts[column]!, 0) : 0;
  }

  /** Moves what the kernel keeps for the collector there. To be called before anything else is added there. */
  drain(events: EventCollector): void {
    if (this.#events !== events || this.#eventBytes === 0) {
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

  /** Moves what the kernel keeps for the collector there, and forgets the collector and the chunk that its events came in. */
  letGo(events: EventCollector): void {
    if (this.#events !== events) {
      return;
    }
    this.drain(events);
    this.#events = null;
    this.#chunk = null;
  }

  /** Moves what the kernel keeps for another collector there. */
  #workFor(events: EventCollector): void {
    if (this.#events !== null && this.#events !== events) {
      this.drain(this.#events);
    }
    this.#events = events;
  }

  /** Copies the block of the chunk that begins at `at` into the memory. */
  #load(chunk: Buffer, at: number, events: EventCollector): void {
    const block = chunk.subarray(at, at + this.#longestEvent);
    this.#makeRoom(block.length, events);
    this.#memory.set(block, this.#linesAt);
    [this.#chunk, this.#blockStart, this.#blockEnd] = [chunk, at, at + block.length];
    [this.#firstRecord, this.#endRecord] = [0, 0];
  }

  /** The same for the values from the index `from` on, with the places of those that lie in the block. */
  #loadRecords({ bytes, count, starts, ends }: RecordValues, from: number, events: EventCollector): void {
    const most = Math.min(count, from + this.#recordStarts.length);
    let end = from;
    if (starts[from]! >= 0) {
      this.#load(bytes, starts[from]!, events);
      while (end < most && starts[end]! >= 0 && ends[end]! <= this.#blockEnd) end++;
      this.#recordStarts.set(starts.subarray(from, end));
      this.#recordEnds.set(ends.subarray(from, end));
    }
    [this.#firstRecord, this.#endRecord] = [from, end];
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

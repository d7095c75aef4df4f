import { readFileSync } from 'node:fs';
import { BATCH_COLUMNS } from '../../query/batch-columns.ts';
import { NEWLINE } from '../../query/json-bytes.ts';
import type { ConvertedEvents } from './converted-events.ts';
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

/** Is told of the lines of a chunk, in their order. */
export interface LineReceiver {
  /** The kernel took so many events. */
  readonly added: (events: number) => void;
  /** A line, without its newline, that the kernel declined; it may be added to the same events before the call returns. */
  readonly other: (line: Uint8Array) => void;
}

/**
 * Writes the columns and packed logs of events in their usual form, in WebAssembly (the source is in `kernel/assembly/`). It declines every
 * other event, also one that breaks a rule, without a reason: `ScannedEvents` reads those, and would write the same for the usual ones. It
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
   * Adds the event to those that the kernel keeps, which go into `events` where there is no room; false where the kernel declines it.
   * `sourceId` is as for `EventConverter`.
   */
  convert(bytes: Uint8Array, sourceId: (() => string) | null, { earliestMs, latestMs }: AllowedTimes, events: ConvertedEvents): boolean {
    if (bytes.length > this.#longestEvent) {
      return false;
    }
    this.#makeRoom(bytes.length, events);
    this.#memory.set(bytes, this.#inputAt);
    const verdict = this.#exports.convert(bytes.length, earliestMs, latestMs);
    if (verdict === NOT_TAKEN || (verdict === NEEDS_ID && !this.#appendWithId(sourceId))) {
      return false;
    }
    this.#eventBytes += bytes.length;
    return true;
  }

  /** Adds the events of the lines that end in a chunk. Returns the end of the last line. */
  convertLines(chunk: Buffer, times: AllowedTimes, events: ConvertedEvents, receiver: LineReceiver): number {
    for (let start = 0; ; ) {
      const block = chunk.subarray(start, start + this.#longestEvent);
      const end = this.#convertBlock(block, times, events, receiver);
      if (end > 0) {
        start += end;
        continue;
      }
      // A line without an end, or one that is longer than the kernel's memory.
      const newline = chunk.indexOf(NEWLINE, start + block.length);
      if (newline < 0) {
        return start;
      }
      receiver.other(chunk.subarray(start, newline));
      start = newline + 1;
    }
  }

  /** Bytes of the columns and logs of the events that the kernel keeps. */
  get byteLength(): number {
    return this.#ends.reduce((sum, end, column) => sum + end - this.#starts[column]!, 0);
  }

  /** Moves the events that the kernel keeps into `events`. To be called before anything else is added there. */
  drain({ fields, logs }: ConvertedEvents): void {
    if (this.#eventBytes === 0) {
      return;
    }
    for (const [index, column] of fields.columns.entries()) {
      column.copy(this.#memory, this.#starts[index]!, this.#ends[index]!);
    }
    fields.masks.copy(this.#memory, this.#starts[MASKS]!, this.#ends[MASKS]!);
    logs.appendLines(this.#memory, this.#starts[LOGS]!, this.#ends[LOGS]!);
    this.#ends.set(this.#starts);
    this.#eventBytes = 0;
  }

  /** Makes room for events of so many bytes, and an id. */
  #makeRoom(bytes: number, events: ConvertedEvents): void {
    if (this.#eventBytes + bytes + this.#longestGivenId > this.#roomForEvents) {
      this.drain(events);
    }
  }

  /** Adds the events of the lines that end in a block, which the kernel has room for. Returns the end of the last line. */
  #convertBlock(block: Buffer, { earliestMs, latestMs }: AllowedTimes, events: ConvertedEvents, { added, other }: LineReceiver): number {
    const { convertLines, convertedLines, linesStoppedAt } = this.#exports;
    this.#makeRoom(block.length, events);
    this.#memory.set(block, this.#linesAt);
    for (let at = 0; ; ) {
      const verdict = convertLines(this.#linesAt + at, this.#linesAt + block.length, earliestMs, latestMs);
      const stopped = linesStoppedAt() - this.#linesAt;
      this.#eventBytes += stopped - at;
      at = stopped;
      added(convertedLines());
      if (verdict === NO_LINE) {
        return at;
      }
      if (verdict === NEEDS_ID) {
        // There is room: the digest of an event is shorter than the event.
        this.#appendWithId(null);
        added(1);
      } else {
        const newline = block.indexOf(NEWLINE, at);
        other(block.subarray(at, newline));
        at = newline + 1;
      }
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

import { readFileSync } from 'node:fs';
import { BATCH_COLUMNS } from '../../query/batch-columns.ts';
import type { ConvertedEvents } from './converted-events.ts';
import { digestId } from './digest-id.ts';
import { NEWLINE } from './scan/json-bytes.ts';

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

/** What is used of it here: Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const MODULE = new WebAssembly.Module(readFileSync(new URL('./kernel/event-kernel.wasm', import.meta.url)));

/** What the kernel's `convert` and `convertLines` say. */
const NOT_TAKEN = 0;
const NEEDS_ID = 2;
const NO_LINE = 3;

/** Behind the columns come these. */
const MASKS = BATCH_COLUMNS.length;
const LOGS = MASKS + 1;

/** In UTF-8, of a character of a JavaScript text. */
const MAX_CHARACTER_BYTES = 3;

/** The times that an event may have, Unix milliseconds. */
export interface EventTimes {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** Told of the lines of a chunk, in their order. */
export interface LineReceiver {
  /** So many events were taken. */
  readonly added: (events: number) => void;
  /** A line, without its newline, that is not for the kernel; it may be added to the same events before the call returns. */
  readonly other: (line: Uint8Array) => void;
}

/**
 * Writes the columns and packed logs of events in their usual form, in WebAssembly (the source is in `kernel/assembly/`). Of any other event, also of one that
 * breaks a rule, it says nothing: that is for `ScannedEvents`, and what this one writes, that one writes too. It keeps some hundred events in its own memory.
 * An instance takes some 130 µs to make and 10 GB of address space, though next to no memory.
 */
export class EventKernel {
  readonly #exports: KernelExports;
  /** Of the kernel; it never grows. */
  readonly #memory: Buffer;
  readonly #inputAt: number;
  readonly #linesAt: number;
  readonly #givenIdAt: number;
  readonly #longestEvent: number;
  readonly #longestGivenId: number;
  readonly #roomForEvents: number;
  /** Where the kernel's columns end, and where they begin. */
  readonly #ends: Uint32Array;
  readonly #starts: Uint32Array;
  /** Of the events that the kernel keeps, with the ids that were given for them. */
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
   * Adds the event to those that the kernel keeps; false where it is not for the kernel. Where there is no room for it, the others go into `events` first.
   * `place` is as for `EventConverter`.
   */
  convert(bytes: Uint8Array, place: (() => string) | null, { earliestMs, latestMs }: EventTimes, events: ConvertedEvents): boolean {
    if (bytes.length > this.#longestEvent) {
      return false;
    }
    this.#makeRoom(bytes.length, events);
    this.#memory.set(bytes, this.#inputAt);
    const verdict = this.#exports.convert(bytes.length, earliestMs, latestMs);
    if (verdict === NOT_TAKEN || (verdict === NEEDS_ID && !this.#appendWithId(place))) {
      return false;
    }
    this.#eventBytes += bytes.length;
    return true;
  }

  /** Does so with the events that end in a chunk, one a line. Returns where the last line ends. */
  convertLines(chunk: Buffer, times: EventTimes, events: ConvertedEvents, receiver: LineReceiver): number {
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

  /** Of the columns and logs of the events that the kernel keeps. */
  get byteLength(): number {
    return this.#ends.reduce((sum, end, column) => sum + end - this.#starts[column]!, 0);
  }

  /** Moves the events that the kernel keeps into `events`. To be called before anything else is added there. */
  drain({ fields, logs }: ConvertedEvents): void {
    if (this.#eventBytes === 0) {
      return;
    }
    for (const [place, column] of fields.columns.entries()) {
      column.copy(this.#memory, this.#starts[place]!, this.#ends[place]!);
    }
    fields.masks.copy(this.#memory, this.#starts[MASKS]!, this.#ends[MASKS]!);
    logs.appendLines(this.#memory, this.#starts[LOGS]!, this.#ends[LOGS]!);
    this.#ends.set(this.#starts);
    this.#eventBytes = 0;
  }

  /** For events of so many bytes, and an id. */
  #makeRoom(bytes: number, events: ConvertedEvents): void {
    if (this.#eventBytes + bytes + this.#longestGivenId > this.#roomForEvents) {
      this.drain(events);
    }
  }

  /** The same with as much of a chunk as the kernel has room for. */
  #convertBlock(block: Buffer, { earliestMs, latestMs }: EventTimes, events: ConvertedEvents, { added, other }: LineReceiver): number {
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
  #appendWithId(place: (() => string) | null): boolean {
    const { eventStart, eventEnd, appendWithId } = this.#exports;
    const logId = place?.() ?? digestId(this.#memory.subarray(eventStart(), eventEnd()));
    if (logId.length * MAX_CHARACTER_BYTES > this.#longestGivenId) {
      return false;
    }
    const idBytes = this.#memory.write(logId, this.#givenIdAt);
    appendWithId(idBytes);
    this.#eventBytes += idBytes;
    return true;
  }
}

import { readFileSync } from 'node:fs';
import type { ConvertedEvents } from './converted-events.ts';
import { digestId } from './digest-id.ts';
import type { LineBuffer } from './line-buffer.ts';

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly longestEvent: () => number;
  readonly inputAt: () => number;
  readonly outputAt: () => number;
  readonly logAt: () => number;
  readonly logLength: () => number;
  readonly eventStart: () => number;
  readonly eventEnd: () => number;
  readonly convert: (length: number, earliestMs: number, latestMs: number) => number;
}

/** What is used of it here: Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const MODULE = new WebAssembly.Module(readFileSync(new URL('./kernel/event-kernel.wasm', import.meta.url)));

/**
 * Writes the canonical lines and packed logs of events in their usual form, in WebAssembly (the source is in `kernel/assembly/`). Of any other event, also of one that
 * breaks a rule, it says nothing: that is for `ScannedEvents`, and what this one writes, that one writes too.
 * An instance takes some 130 µs to make and 10 GB of address space, though next to no memory.
 */
export class EventKernel {
  readonly #exports: KernelExports;
  /** Of the kernel; it never grows. */
  readonly #memory: Buffer;
  readonly #inputAt: number;
  readonly #outputAt: number;
  readonly #logAt: number;
  readonly #longestEvent: number;

  /** Throws a `RangeError` where there is no more address space. */
  constructor() {
    this.#exports = new WebAssembly.Instance(MODULE).exports;
    this.#memory = Buffer.from(this.#exports.memory.buffer);
    this.#inputAt = this.#exports.inputAt();
    this.#outputAt = this.#exports.outputAt();
    this.#logAt = this.#exports.logAt();
    this.#longestEvent = this.#exports.longestEvent();
  }

  /**
   * Adds the event to `events`; false where it is not for the kernel, and they are left alone. The time of the event has to be
   * within the two, Unix milliseconds. `place` is as for `EventConverter`.
   */
  convert(
    bytes: Uint8Array,
    place: (() => string) | null,
    earliestMs: number,
    latestMs: number,
    { lines, logs }: ConvertedEvents,
  ): boolean {
    if (bytes.length > this.#longestEvent) {
      return false;
    }
    this.#memory.set(bytes, this.#inputAt);
    const length = this.#exports.convert(bytes.length, earliestMs, latestMs);
    if (length === 0) {
      return false;
    }
    if (length > 0) {
      lines.appendLine(this.#memory, this.#outputAt, this.#outputAt + length);
    } else {
      this.#appendWithId(place, this.#outputAt - length, lines);
    }
    logs.appendLine(this.#memory, this.#logAt, this.#logAt + this.#exports.logLength());
    return true;
  }

  /** The line that ends at `lineEnd`, with an id before its closing brace. */
  #appendWithId(place: (() => string) | null, lineEnd: number, lines: LineBuffer): void {
    const { eventStart, eventEnd } = this.#exports;
    const logId = place?.() ?? digestId(this.#memory.subarray(eventStart(), eventEnd()));
    const braceAt = lineEnd - '}\n'.length;
    lines.copy(this.#memory, this.#outputAt, braceAt);
    lines.write(`,"logId":${JSON.stringify(logId)}`);
    lines.appendLine(this.#memory, braceAt, lineEnd);
  }
}

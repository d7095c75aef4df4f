import { readFileSync } from 'node:fs';

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly longestEvent: () => number;
  readonly inputAt: () => number;
  readonly outputAt: () => number;
  readonly convert: (length: number, earliestMs: number, latestMs: number) => number;
}

/** What is used of it here: Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const MODULE = new WebAssembly.Module(readFileSync(new URL('./kernel/event-kernel.wasm', import.meta.url)));

/**
 * Writes the canonical line of an event in its usual form, in WebAssembly (the source is in `kernel/assembly/`). Of any other event, also of one that
 * breaks a rule, it says nothing: that is for `ScannedEvents`, and where this one gives a line, that one gives the same.
 * An instance takes some 130 µs to make and 10 GB of address space, though next to no memory.
 */
export class EventKernel {
  /** The kernel's memory, in which the line of the last event begins at `lineAt`. It never grows. */
  readonly memory: Buffer;
  readonly lineAt: number;
  readonly #inputAt: number;
  readonly #longestEvent: number;
  readonly #convert: KernelExports['convert'];

  /** Throws a `RangeError` where there is no more address space. */
  constructor() {
    const exports = new WebAssembly.Instance(MODULE).exports;
    this.#inputAt = exports.inputAt();
    this.lineAt = exports.outputAt();
    this.#longestEvent = exports.longestEvent();
    this.#convert = exports.convert;
    this.memory = Buffer.from(exports.memory.buffer);
  }

  /** The length of the event's line, newline included, or 0 where the event is not for the kernel. Its time has to be within the two, Unix milliseconds. */
  convert(bytes: Uint8Array, earliestMs: number, latestMs: number): number {
    if (bytes.length > this.#longestEvent) {
      return 0;
    }
    this.memory.set(bytes, this.#inputAt);
    return this.#convert(bytes.length, earliestMs, latestMs);
  }
}

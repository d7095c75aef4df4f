import { readFileSync } from 'node:fs';

/** An address in the memory of the kernel. */
export type Address = number;

/** Stands for the size of the values of a column of texts, as `TEXT` does in `kernel/assembly/`. */
export const TEXT_SIZE = 0;

/** The functions of the kernel; `kernel/assembly/` documents them. */
interface KernelFunctions {
  readonly locateTexts: (values: Address, end: Address, present: Address, count: number, addresses: Address) => Address;
  readonly locateNumbers: (values: Address, size: number, present: Address, count: number, addresses: Address) => Address;
  /** `size` is `TEXT_SIZE` for texts. */
  readonly internValues: (
    addresses: Address,
    size: number,
    count: number,
    ids: Address,
    dictionary: Address,
    table: Address,
    slots: number,
  ) => number;
  /** `dictionary` is 0 where the entries are addresses. */
  readonly fittingRows: (entries: Address, dictionary: Address, order: Address, count: number, bytes: number) => number;
  readonly gatherNumbers: (values: Address, order: Address, count: number, out: Address) => void;
  readonly countUp: (first: bigint, count: number, out: Address) => void;
  readonly findBounds: (numbers: Address, count: number) => void;
  readonly minimum: () => bigint;
  readonly maximum: () => bigint;
  readonly gatherBits: (bits: Address, order: Address, count: number, out: Address) => Address;
  readonly appendBits: (from: Address, count: number, to: Address, first: number) => void;
  readonly writeLevels: (ofEvents: Address, order: Address, count: number, entries: Address, out: Address) => Address;
  readonly presentRows: () => number;
  readonly renumber: (ids: Address, count: number, numbers: Address, used: Address) => number;
  readonly resolve: (numbers: Address, count: number, table: Address) => void;
  readonly writeIndices: (numbers: Address, count: number, dictionarySize: number, out: Address) => Address;
  readonly writeTexts: (addresses: Address, count: number, out: Address) => Address;
  readonly writeNumbers: (addresses: Address, count: number, size: number, out: Address) => Address;
  readonly writeDeltaLengthTexts: (addresses: Address, count: number, lengths: Address, out: Address) => Address;
  readonly writeDeltaPacked: (numbers: Address, count: number, out: Address) => Address;
}

interface KernelExports extends KernelFunctions {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
  readonly roomAt: () => Address;
}

/** The part of WebAssembly that is used here. Node's types leave it to the browser's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: KernelExports };
};

const WEB_ASSEMBLY_PAGE = 64 * 1024;

/** The kernel reads and writes texts in words of eight bytes, past their ends. */
const SLACK = 64;

/**
 * Turns columns of journals into columns of segments, in WebAssembly (the source is in `kernel/assembly/`). Its memory is handed out piece
 * by piece and taken back all at once.
 */
export class SegmentKernel {
  readonly run: KernelFunctions;
  readonly #exports: KernelExports;
  #memory: Buffer<ArrayBuffer>;
  #used: Address;

  constructor() {
    this.#exports = new WebAssembly.Instance(
      new WebAssembly.Module(readFileSync(new URL('./kernel/segment-kernel.wasm', import.meta.url))),
    ).exports;
    this.run = this.#exports;
    this.#memory = Buffer.from(this.#exports.memory.buffer);
    this.#used = this.#exports.roomAt();
  }

  /** Takes back all memory. */
  clear(): void {
    this.#used = this.#exports.roomAt();
  }

  /**
   * Hands out memory with any content. Earlier views of the memory become invalid. Throws a `RangeError` above 2 GiB: WebAssembly hands out
   * addresses with a sign.
   */
  allocate(bytes: number): Address {
    const at = Math.ceil(this.#used / 8) * 8;
    const end = at + bytes + SLACK;
    const missing = end - this.#memory.length;
    if (missing > 0) {
      this.#exports.memory.grow(Math.ceil(missing / WEB_ASSEMBLY_PAGE));
      this.#memory = Buffer.from(this.#exports.memory.buffer);
    }
    this.#used = end;
    return at;
  }

  bytes(at: Address, length: number): Buffer {
    return this.#memory.subarray(at, at + length);
  }

  uint32s(at: Address, count: number): Uint32Array {
    return new Uint32Array(this.#memory.buffer, at, count);
  }

  int32s(at: Address, count: number): Int32Array {
    return new Int32Array(this.#memory.buffer, at, count);
  }
}

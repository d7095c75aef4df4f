import { closeSync, openSync, writevSync } from 'node:fs';
import { unwritten } from './unwritten.ts';

/** Written to the file together. */
const WRITE_BYTES = 1024 * 1024;

/** A new file that is written from its start to its end, by a thread that may wait for it. Not synced. */
export class FileOutput {
  readonly #handle: number;
  #offset = 0;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(path: string) {
    this.#handle = openSync(path, 'wx');
  }

  /** How many bytes there are, written or not. */
  get offset(): number {
    return this.#offset;
  }

  /** The bytes have to stay as they are until they are written. */
  put(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#offset += bytes.length;
    if (this.#waitingBytes >= WRITE_BYTES) {
      this.write();
    }
  }

  /** Writes what waits. */
  write(): void {
    let left = unwritten(this.#waiting, 0);
    while (left.length > 0) {
      left = unwritten(left, writevSync(this.#handle, left));
    }
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  close(): void {
    closeSync(this.#handle);
  }
}

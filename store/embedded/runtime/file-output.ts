import { closeSync, openSync, writevSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The rest of these pieces after their first `bytesWritten` bytes, without empty pieces. */
export function unwritten(pieces: readonly Uint8Array[], bytesWritten: number): Uint8Array[] {
  let written = bytesWritten;
  return pieces.flatMap((piece) => {
    const skipped = Math.min(written, piece.byteLength);
    written -= skipped;
    return skipped === piece.byteLength ? [] : [piece.subarray(skipped)];
  });
}

/** Bytes that are written in one call. */
const WRITE_BYTES = 1024 * 1024;

/** A new file that a thread writes from start to end, synchronously. Not synced. */
export class FileOutput implements Disposable {
  readonly #handle: number;
  #offset = 0;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(path: string) {
    this.#handle = openSync(path, 'wx');
  }

  /** The number of bytes put so far, written or not. */
  get offset(): number {
    return this.#offset;
  }

  /** Takes bytes to be written. They may not change before that. */
  put(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#offset += bytes.length;
    if (this.#waitingBytes >= WRITE_BYTES) {
      this.write();
    }
  }

  /** Writes the bytes that wait. */
  write(): void {
    let left = unwritten(this.#waiting, 0);
    while (left.length > 0) {
      left = unwritten(left, writevSync(this.#handle, left));
    }
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle);
  }
}

export async function removeFiles(folder: string, files: readonly { readonly file: string }[]): Promise<void> {
  for (const { file } of files) {
    await rm(join(folder, file), { force: true });
  }
}

/** A file that is open to be read synchronously, until it is disposed. */
export function openedFile(path: string): Disposable & { readonly descriptor: number } {
  const descriptor = openSync(path, 'r');
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** Makes the content of a file durable. Resolves with its size in bytes. */
export async function syncFile(path: string): Promise<number> {
  await using file = await open(path, 'r');
  await file.sync();
  return (await file.stat()).size;
}

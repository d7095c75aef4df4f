import { closeSync, openSync, writevSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
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
export class FileOutput {
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

  /** The bytes may not change before they are written. */
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

  close(): void {
    closeSync(this.#handle);
  }
}

/**
 * Writes a file of the segments folder under a temporary name, syncs it and renames it; resolves with its size in bytes. The caller syncs
 * the folder. When this rejects, no file is left.
 */
export async function writeWhole(folder: string, file: string, write: (path: string) => Promise<unknown>): Promise<number> {
  const path = join(folder, file);
  const temporary = `${path}.tmp`;
  try {
    await write(temporary);
    const bytes = await syncFile(temporary);
    await rename(temporary, path);
    return bytes;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export async function removeFiles(folder: string, files: readonly { readonly file: string }[]): Promise<void> {
  for (const { file } of files) {
    await rm(join(folder, file), { force: true });
  }
}

/** Resolves with the size in bytes. */
async function syncFile(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const CHUNK_BYTES = 1024 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;

/** So many chunks are read ahead, all at the same time: a disk that has much to write answers a read late. */
const READ_AHEAD = 8;

/** What is used of it here: Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

/** Memory that begins where a page does, which a read past the page cache asks for and a `Buffer` does not promise. */
function pageAlignedBuffer(bytes: number): Buffer {
  return Buffer.from(new WebAssembly.Memory({ initial: bytes / WASM_PAGE_BYTES }).buffer);
}

/**
 * The bytes of a file in turn, read ahead; a chunk is good until the next but one is asked for. Where the file system can, they are read
 * past the page cache: nothing is read twice, and pages for it would be a tenth of what it costs to take the events in.
 */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await openForOnce(path);
  // One chunk is worked on, and the one before may still be looked at.
  const memory = pageAlignedBuffer((READ_AHEAD + 2) * CHUNK_BYTES);
  const read = async (chunk: number) => {
    const at = (chunk * CHUNK_BYTES) % memory.length;
    const { bytesRead } = await file.read(memory, at, CHUNK_BYTES, chunk * CHUNK_BYTES);
    return memory.subarray(at, at + bytesRead);
  };
  const ahead: Promise<Buffer>[] = [];
  const readAhead = (chunk: number) => {
    const reading = read(chunk);
    // An error is heard of when its turn comes.
    reading.catch(() => undefined);
    ahead.push(reading);
  };
  try {
    const { size } = await file.stat();
    const chunks = Math.ceil(size / CHUNK_BYTES);
    for (let chunk = 0; chunk < Math.min(READ_AHEAD, chunks); chunk += 1) {
      readAhead(chunk);
    }
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const bytes = (await ahead.shift()) as Buffer;
      const expected = Math.min(CHUNK_BYTES, size - chunk * CHUNK_BYTES);
      if (bytes.length !== expected) {
        throw new Error(`${path}: ${bytes.length} bytes from ${chunk * CHUNK_BYTES} on were read; expected: ${expected}`);
      }
      if (chunk + READ_AHEAD < chunks) {
        readAhead(chunk + READ_AHEAD);
      }
      yield bytes;
    }
  } finally {
    await Promise.allSettled(ahead);
    await file.close();
  }
}

/**
 * Reads a file to its end. What stores a virtual machine's disk answers the second time a file is read, or the first after it was written,
 * many times as fast as the first time; an engine that is measured is not to pay for having been the first.
 */
export async function readThrough(path: string): Promise<void> {
  for await (const _ of fileChunks(path)) {
    // Nothing is done with it.
  }
}

async function openForOnce(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_DIRECT ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') {
      throw error;
    }
    return await open(path);
  }
}

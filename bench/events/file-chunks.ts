import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const CHUNK_BYTES = 1024 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;

/** Chunks that are read ahead at the same time, because a disk that has much to write answers reads late. */
const READ_AHEAD = 8;

/** The part of WebAssembly that is used here. Node's types leave it to those of the browser. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

/** Memory that starts at a page, which reads past the page cache require and a `Buffer` does not promise. */
function pageAlignedBuffer(bytes: number): Buffer {
  return Buffer.from(new WebAssembly.Memory({ initial: bytes / WASM_PAGE_BYTES }).buffer);
}

/**
 * The bytes of a file, read ahead. A chunk is valid until the second one after it is requested. If the file system supports it, reads go
 * past the page cache: nothing is read twice, and filling the cache would be a tenth of the cost of the intake.
 */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await openForOnce(path);
  // The caller works on one chunk and may still read the one before.
  const memory = pageAlignedBuffer((READ_AHEAD + 2) * CHUNK_BYTES);
  const read = async (chunk: number) => {
    const offset = (chunk * CHUNK_BYTES) % memory.length;
    const { bytesRead } = await file.read(memory, offset, CHUNK_BYTES, chunk * CHUNK_BYTES);
    return memory.subarray(offset, offset + bytesRead);
  };
  const ahead: Promise<Buffer>[] = [];
  const readAhead = (chunk: number) => {
    const reading = read(chunk);
    // The error is thrown when the chunk is awaited.
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
 * Reads a file to its end, so that no engine pays for being the first to read it: the disk of a virtual machine answers a second read many
 * times as fast.
 */
export async function readThrough(path: string): Promise<void> {
  for await (const _ of fileChunks(path)) {
    // The bytes are not used.
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

const NEWLINE = 0x0a;

/** The lines of an NDJSON file in bodies of about so many bytes. Each is a copy. */
export async function* bodiesOf(file: string, bytes: number): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (const chunk of fileChunks(file)) {
    gathered.push(Buffer.from(chunk));
    size += chunk.byteLength;
    if (size >= bytes) {
      const some = Buffer.concat(gathered, size);
      const end = some.lastIndexOf(NEWLINE) + 1;
      yield some.subarray(0, end);
      gathered = [some.subarray(end)];
      size -= end;
    }
  }
  if (size > 0) {
    yield Buffer.concat(gathered, size);
  }
}

/**
 * The bytes of an NDJSON file with lines of about equal length, at no more than `linesPerSecond`. Chunks are valid as long as those of
 * {@link fileChunks}.
 */
export async function* pacedChunks(file: string, linesPerSecond: number): AsyncGenerator<Uint8Array> {
  const start = performance.now();
  let bytes = 0;
  let bytesPerLine: number | undefined;
  for await (const chunk of fileChunks(file)) {
    // The first chunk stands for all: counting all lines would take a twentieth of the time of the engine on this thread.
    bytesPerLine ??= chunk.byteLength / linesIn(chunk);
    const aheadMs = (bytes / bytesPerLine / linesPerSecond) * 1000 - (performance.now() - start);
    if (aheadMs > 1) {
      await delay(aheadMs);
    }
    yield chunk;
    bytes += chunk.byteLength;
  }
}

/** The line ends of a chunk, at least 1. */
function linesIn(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  return Math.max(1, lines);
}

import { setTimeout as delay } from 'node:timers/promises';
import { fileChunks } from './file-chunks.ts';

const NEWLINE = 0x0a;

/**
 * The bytes of an NDJSON file whose lines are about as long everywhere, handed out no faster than so many lines a second. Good as long as
 * those of `fileChunks`.
 */
export async function* pacedChunks(file: string, linesPerSecond: number): AsyncGenerator<Uint8Array> {
  const start = performance.now();
  let bytes = 0;
  let bytesPerLine: number | undefined;
  for await (const chunk of fileChunks(file)) {
    // The engine that is measured shares this thread: to count all lines would take a twentieth of its time.
    bytesPerLine ??= chunk.byteLength / linesIn(chunk);
    const aheadMs = (bytes / bytesPerLine / linesPerSecond) * 1000 - (performance.now() - start);
    if (aheadMs > 1) {
      await delay(aheadMs);
    }
    yield chunk;
    bytes += chunk.byteLength;
  }
}

/** At least one. */
function linesIn(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  return Math.max(1, lines);
}

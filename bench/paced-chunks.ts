import { setTimeout as delay } from 'node:timers/promises';
import { fileChunks } from './file-chunks.ts';

const NEWLINE = 0x0a;

/** The bytes of an NDJSON file, handed out no faster than so many lines a second. Good as long as those of `fileChunks`. */
export async function* pacedChunks(file: string, linesPerSecond: number): AsyncGenerator<Uint8Array> {
  const start = performance.now();
  let lines = 0;
  for await (const chunk of fileChunks(file)) {
    const aheadMs = (lines / linesPerSecond) * 1000 - (performance.now() - start);
    if (aheadMs > 1) {
      await delay(aheadMs);
    }
    yield chunk;
    lines += linesIn(chunk);
  }
}

/** The engine that is measured shares this thread, so counting must cost next to nothing. */
function linesIn(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  return lines;
}

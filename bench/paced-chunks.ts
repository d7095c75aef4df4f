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
    for (const byte of chunk) {
      lines += byte === NEWLINE ? 1 : 0;
    }
  }
}

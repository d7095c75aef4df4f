import { open } from 'node:fs/promises';

const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a file in turn; a chunk is good until the next but one is asked for, since two pieces of memory take turns. */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    let [memory, other] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, CHUNK_BYTES);
      if (bytesRead === 0) {
        return;
      }
      yield memory.subarray(0, bytesRead);
      [memory, other] = [other, memory];
    }
  } finally {
    await file.close();
  }
}

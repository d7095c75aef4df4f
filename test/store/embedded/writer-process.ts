import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const WRITERS = {
  endless: new URL('./endless-writer.ts', import.meta.url),
  mapped: new URL('./mapped-writer.ts', import.meta.url),
};
type Writer = keyof typeof WRITERS;

/** Starts a process that fills the store in `dataDir` until it is killed; resolves with the number of its first acknowledged batch. */
export async function startWriter(dataDir: string, writes: Writer = 'endless') {
  const writer = fork(fileURLToPath(WRITERS[writes]), [dataDir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  onTestFinished(() => {
    writer.kill('SIGKILL');
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  writer.once('exit', (code) => reject(new Error(`the writer ended by itself with ${code}`)));
  writer.once('message', (batch) => resolve(Number(batch)));
  await promise;
  return writer;
}

/** Lets a writer go on until it has acknowledged batch `untilBatch`, kills it, and returns the last batch it acknowledged. */
export async function killedWhile(dataDir: string, untilBatch: number, writes?: Writer): Promise<number> {
  const writer = await startWriter(dataDir, writes);
  writer.removeAllListeners('exit');
  const { promise, resolve } = Promise.withResolvers<number>();
  let last = 0;
  writer.on('message', (batch) => {
    last = Number(batch);
    if (last >= untilBatch) {
      writer.kill('SIGKILL');
    }
  });
  writer.once('exit', () => resolve(last));
  return await promise;
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BENCH_DATA } from './event-file.ts';

/** An empty folder for the data of a program under test. */
export async function emptyDataDir(name: string): Promise<string> {
  await mkdir(BENCH_DATA, { recursive: true });
  return await mkdtemp(join(BENCH_DATA, `${name}-`));
}

/** Works with an empty folder that is gone afterwards, whatever happens. */
export async function inEmptyDataDir<T>(name: string, work: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = await emptyDataDir(name);
  try {
    return await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

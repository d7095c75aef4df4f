import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BENCH_DATA } from './event-file.ts';
import { forkSubject } from './fork-subject.ts';

/** Runs a program under test once, on an empty folder that is gone afterwards. */
export async function runSubject<Order extends { readonly dataDir: string }, Report>(
  file: string,
  order: Omit<Order, 'dataDir'>,
): Promise<Report> {
  await mkdir(BENCH_DATA, { recursive: true });
  const dataDir = await mkdtemp(join(BENCH_DATA, 'store-'));
  try {
    return await forkSubject<Report>(file, { ...order, dataDir });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

import { fork } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BENCH_DATA } from './event-file.ts';
import type { SubjectOrder, SubjectReport } from './subject-report.ts';

/** Runs the program under test once, on an empty folder that is gone afterwards. */
export async function runSubject(order: Omit<SubjectOrder, 'dataDir'>): Promise<SubjectReport> {
  await mkdir(BENCH_DATA, { recursive: true });
  const dataDir = await mkdtemp(join(BENCH_DATA, 'store-'));
  try {
    return await forkSubject({ ...order, dataDir });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

function forkSubject(order: SubjectOrder): Promise<SubjectReport> {
  const child = fork(fileURLToPath(new URL('subject.ts', import.meta.url)), [JSON.stringify(order)]);
  return new Promise((resolve, reject) => {
    let report: SubjectReport | undefined;
    child.on('message', (message) => {
      report = message as SubjectReport;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (report === undefined || code !== 0) {
        reject(new Error(`the program under test ended with ${code ?? signal}${report === undefined ? ' before it reported' : ''}`));
      } else {
        resolve(report);
      }
    });
  });
}

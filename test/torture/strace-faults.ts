import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { SeededRandom } from '../../bench/events/seeded-random.ts';

/** Where calls of the operating system fail. SQLite and DuckDB make them by themselves, where no test in the process comes between. */
export const FAULTS = ['SQLite', 'reads of DuckDB', 'merges of DuckDB'] as const;
export type Fault = (typeof FAULTS)[number];

/** Says why no faults can be injected here; undefined where they can. */
export async function whyNoFaults(folder: string): Promise<string | undefined> {
  const calm = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const args = [
      '-qq',
      '-o',
      join(folder, 'strace-trial.txt'),
      '-e',
      'trace=fsync',
      '-e',
      'inject=fsync:error=EIO',
      '-p',
      String(calm.pid),
    ];
    await promisify(execFile)('strace', args, { timeout: 300, killSignal: 'SIGINT' });
    return undefined;
  } catch (error) {
    // It was interrupted, so it had attached itself.
    const { code, stderr = '', message } = error as { code?: string | number; stderr?: string; message: string };
    return code === 'ENOENT' ? 'strace is not installed' : stderr.trim() === '' ? undefined : message.trim();
  } finally {
    calm.kill('SIGKILL');
  }
}

/** The path of a merge that is being written; undefined where none began in time. */
async function mergedFile(segments: string, random: SeededRandom): Promise<string | undefined> {
  const giveUpAt = performance.now() + 5_000 + random.below(10_000);
  while (performance.now() < giveUpAt) {
    const file = readdirSync(segments).find((name) => /^c\d.*\.tmp$/.test(name));
    if (file !== undefined) return join(segments, file);
    await delay(5);
  }
  return undefined;
}

/** The files whose calls fail, and the calls. */
async function aimOf(
  fault: Fault,
  dataDir: string,
  random: SeededRandom,
): Promise<{ readonly paths: readonly string[]; readonly calls: string }> {
  switch (fault) {
    case 'SQLite':
      return { paths: [join(dataDir, 'catalog.sqlite'), join(dataDir, 'catalog.sqlite-wal')], calls: 'pwrite64,fsync,fdatasync' };
    case 'reads of DuckDB': {
      const links = join(dataDir, 'links');
      return { paths: readdirSync(links).map((name) => join(links, name)), calls: 'pread64,read' };
    }
    case 'merges of DuckDB': {
      const file = await mergedFile(join(dataDir, 'segments'), random);
      return { paths: file === undefined ? [] : [file], calls: 'write,pwrite64,fsync' };
    }
  }
}

/**
 * Lets some calls of one kind fail in a process for a few seconds. Resolves with the number of those that did; with 0 where there was no
 * file to fail.
 */
export async function injectFaults(
  fault: Fault,
  { pid, dataDir, random }: { pid: number; dataDir: string; random: SeededRandom },
): Promise<number> {
  const { paths, calls } = await aimOf(fault, dataDir, random);
  if (paths.length === 0) return 0;
  const error = random.below(2) === 0 ? 'EIO' : 'ENOSPC';
  const when = `${1 + random.below(4)}+${1 + random.below(6)}`;
  const output = `${dataDir}-strace.txt`;
  const args = ['-f', '-qq', '-o', output, '-p', String(pid), ...paths.flatMap((path) => ['-P', path])];
  const inject = `inject=${calls}:error=${fault === 'reads of DuckDB' ? 'EIO' : error}:when=${when}`;
  const strace = spawn('strace', [...args, '-e', `trace=${calls}`, '-e', inject], { stdio: 'ignore' });
  const ended = once(strace, 'exit');
  await Promise.race([ended, delay(3_000 + random.below(5_000))]);
  // It lets go of the process.
  strace.kill('SIGINT');
  await ended;
  const injected = readFileSync(output, 'utf8').split('(INJECTED)').length - 1;
  rmSync(output);
  return injected;
}

import { existsSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The endings of what SQLite keeps beside a database: the index of its write-ahead log, and that log. */
export const SQLITE_BESIDES = ['-shm', '-wal'] as const;

/** The name under which a damaged file is set aside, at a time in Unix milliseconds: nothing reads it there. */
export function setAsideName(name: string, atMs: number): string {
  return `damaged-${atMs}-${name}`;
}

/** When a file was set aside, in Unix milliseconds; undefined for other files. */
export function setAsideAt(name: string): number | undefined {
  const [, atMs] = /^damaged-(\d+)-/.exec(name) ?? [];
  return atMs === undefined ? undefined : Number(atMs);
}

/** Gives a damaged file of SQLite and what belongs to it other names, and returns that of the file. */
export function setFileAside(file: string): string {
  const setAside = join(dirname(file), setAsideName(basename(file), Date.now()));
  for (const suffix of [...SQLITE_BESIDES, '']) {
    if (existsSync(`${file}${suffix}`)) {
      renameSync(`${file}${suffix}`, `${setAside}${suffix}`);
    }
  }
  return setAside;
}

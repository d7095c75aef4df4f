import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** A file system in memory, where the machine has one. */
const IN_MEMORY = '/dev/shm';
/** More than all folders of a run of tests take together. */
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * Makes a folder for the temporary folders of a run, which the caller removes. It is in memory where there is room and programs may be
 * started from there: a store on a disk waits for that whenever it acknowledges something, and for what other tests write meanwhile. Where
 * TMPDIR is set, it is there.
 *
 * @returns {string}
 */
export function temporaryRoot() {
  if (process.env.TMPDIR === undefined && hasRoom()) {
    const folder = newFolder(IN_MEMORY);
    if (startsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  }
  return newFolder(tmpdir());
}

/** @param {string} parent */
function newFolder(parent) {
  const folder = mkdtempSync(join(parent, 'shieldlog-tests-'));
  // A test has a program run as another user, who passes through.
  chmodSync(folder, 0o711);
  return folder;
}

function hasRoom() {
  if (!existsSync(IN_MEMORY)) return false;
  const { bsize, bavail } = statfsSync(IN_MEMORY);
  return bsize * bavail > ROOM_BYTES && process.availableMemory() > 2 * ROOM_BYTES;
}

/** @param {string} folder */
function startsPrograms(folder) {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  return spawnSync(program).status === 0;
}

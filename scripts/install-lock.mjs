import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The running process that a lock file names, or null. */
function holderOf(path) {
  let pid;
  try {
    pid = Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  if (!Number.isInteger(pid) || pid <= 0) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // EPERM: the process runs as another user.
    return error.code === 'EPERM' ? pid : null;
  }
}

/** Links `from` as `to` and removes `from`. Returns false if `to` exists. */
function moveIfFree(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(from, { force: true });
  }
}

/** Returns whether this process has the lock now. The file is linked with its content, so that nobody reads it half written. */
function tryToTake(path) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  if (moveIfFree(own, path)) return true;
  if (holderOf(path) !== null) return false;
  try {
    renameSync(path, own);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
  // A process that was killed has left the lock. If another launcher has taken it in the meantime, that one gets it back.
  if (holderOf(own) === null) rmSync(own, { force: true });
  else moveIfFree(own, path);
  return false;
}

/**
 * Keeps two launchers from installing into the same folder at the same time. Waits while another running process holds the lock.
 *
 * @param {string} path the lock file, which has the process id
 * @param {(pid: number) => void} onWait called once if another process holds the lock
 * @returns {Promise<() => void>} releases the lock
 */
export async function takeInstallLock(path, onWait) {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  while (!tryToTake(path)) {
    const holder = holderOf(path);
    if (holder !== null && !told) {
      told = true;
      onWait(holder);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return () => rmSync(path, { force: true });
}

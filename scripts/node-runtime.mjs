import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The first version with type stripping without a warning and with the parts of `node:sqlite` that the program uses. */
const OLDEST = { major: 24, minor: 10 };

/**
 * @param {string} version as in `process.versions.node`
 * @returns {boolean} whether the program can run on it
 */
export function isRecentEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
}

/**
 * @param {{ root: string, execPath: string, version: string }} running the checkout, and the Node that runs the launcher
 * @returns {string | null} the path of a Node that can run the program: the running one, or the one the `node` package installed
 */
export function findNode({ root, execPath, version }) {
  if (isRecentEnough(version)) return execPath;
  const installed = join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(installed) ? installed : null;
}

import { createHash } from 'node:crypto';

const VARIABLE = 'SEED';
const FIXED = 1;

/** The seed of everything that tests draw at random. It is fixed, so that two runs of one commit draw the same cases; SEED changes it. */
export function runSeed(): number {
  const text = process.env[VARIABLE] ?? String(FIXED);
  const seed = Number(text);
  if (!/^-?\d+$/.test(text) || seed !== (seed | 0)) {
    throw new Error(`${VARIABLE} is "${text}"; allowed: an integer from -2147483648 to 2147483647`);
  }
  return seed;
}

let calls = 0;

/** Has the next bytes be the first ones: where files of tests share a process, what one draws does not depend on those before it. */
export function drawFromStart(): void {
  calls = 0;
}

/** Random bytes of a file of tests, others at each call. They cannot be compressed. */
export function seededBytes(length: number): Buffer {
  calls += 1;
  return createHash('shake128', { outputLength: length }).update(`${runSeed()} ${calls}`).digest();
}

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A run that once failed: the seed of its events, and where fast-check finds the failing case again. */
export interface FailingSeed {
  readonly dataSeed: number;
  readonly seed: number;
  readonly path: string;
}

const FILE = fileURLToPath(new URL('failing-seeds.json', import.meta.url));

/** Runs that failed before, to be run first. */
export function readFailingSeeds(property: string): readonly FailingSeed[] {
  return readAll()[property] ?? [];
}

/** Keeps a failing run for the next time and says so. */
export function keepFailingSeed(property: string, failing: FailingSeed): void {
  const all = readAll();
  const kept = all[property] ?? [];
  if (!kept.some(({ dataSeed, seed, path }) => dataSeed === failing.dataSeed && seed === failing.seed && path === failing.path)) {
    writeFileSync(FILE, `${JSON.stringify({ ...all, [property]: [...kept, failing] }, null, 2)}\n`);
  }
  process.stderr.write(`${property}: failed with ${JSON.stringify(failing)}; kept in test/property/failing-seeds.json\n`);
}

function readAll(): Readonly<Record<string, readonly FailingSeed[]>> {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, readonly FailingSeed[]>;
}

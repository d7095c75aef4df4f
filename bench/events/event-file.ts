import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type GeneratorOptions, generateEvents } from './event-generator.ts';

/** Where the benchmarks keep what they generate; not under version control. */
export const BENCH_DATA = fileURLToPath(new URL('../data/', import.meta.url));

/** The generated events end here, and the program under test takes it for the present: a file stays good for ever. */
export const BENCH_NOW_MS = Date.UTC(2026, 0, 1);

const CHUNK_BYTES = 1024 * 1024;

export interface EventFile {
  readonly path: string;
  readonly bytes: number;
}

const HOUR_MS = 3_600_000;

/** The events that engines are filled with: over 71 hours. */
export function benchOptions(count: number): GeneratorOptions {
  return { seed: 1, count, zones: 1_700, nowMs: BENCH_NOW_MS, spanMs: 71 * HOUR_MS };
}

/**
 * Events that come in when an engine is full already: as live ones, from the last minutes. The nth file, from 0, has other events than
 * those before.
 */
export function liveOptions(count: number, file = 0): GeneratorOptions {
  return { seed: 2 + file, count, zones: 1_700, nowMs: BENCH_NOW_MS, spanMs: HOUR_MS / 6 };
}

/** The NDJSON file of so many events, written now if it is not there from an earlier run. */
export async function eventFile(options: GeneratorOptions, path = defaultPath(options)): Promise<EventFile> {
  const size = await stat(path).then(
    ({ size }) => size,
    () => null,
  );
  if (size !== null) {
    return { path, bytes: size };
  }
  await mkdir(BENCH_DATA, { recursive: true });
  // Under another name until it is whole: half a file must not be taken for one.
  const unfinished = `${path}.${process.pid}.part`;
  const bytes = await writeLines(generateEvents(options), unfinished);
  await rename(unfinished, path);
  return { path, bytes };
}

/**
 * The same events in files of at most so many, in turn. A single file stays, as `eventFile` has it; of several each is there until the next
 * one is asked for: 100 million events take 115 GB.
 */
export async function* eventFiles(options: GeneratorOptions, eventsPerFile: number): AsyncGenerator<EventFile> {
  if (options.count <= eventsPerFile) {
    yield await eventFile(options);
    return;
  }
  await mkdir(BENCH_DATA, { recursive: true });
  const lines = generateEvents(options)[Symbol.iterator]();
  for (let from = 0; from < options.count; from += eventsPerFile) {
    const path = `${defaultPath(options)}.${process.pid}.from-${from}`;
    try {
      yield { path, bytes: await writeLines(nextLines(lines, eventsPerFile), path) };
    } finally {
      await rm(path, { force: true });
    }
  }
}

/** Resolves with the length of the file. */
async function writeLines(lines: Iterable<Buffer>, path: string): Promise<number> {
  await pipeline(Readable.from(inChunks(lines)), createWriteStream(path));
  return (await stat(path)).size;
}

/** Leaves the others for later. */
function* nextLines(lines: Iterator<Buffer>, most: number): Iterable<Buffer> {
  for (let count = 0; count < most; count += 1) {
    const { done, value } = lines.next();
    if (done) {
      return;
    }
    yield value;
  }
}

function defaultPath({ seed, count, zones, nowMs, spanMs }: GeneratorOptions): string {
  return join(BENCH_DATA, `events-${count}-zones-${zones}-seed-${seed}-minutes-${spanMs / 60_000}-until-${nowMs}.ndjson`);
}

function* inChunks(lines: Iterable<Buffer>): Iterable<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const line of lines) {
    gathered.push(line);
    bytes += line.byteLength;
    if (bytes >= CHUNK_BYTES) {
      yield Buffer.concat(gathered, bytes);
      [gathered, bytes] = [[], 0];
    }
  }
  yield Buffer.concat(gathered, bytes);
}

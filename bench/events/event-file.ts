import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { HOUR_MS } from '../../query/durations.ts';
import { type GeneratorOptions, generateEvents } from './event-generator.ts';

/** The folder of generated events and of data under test. It is not under version control. */
export const BENCH_DATA = fileURLToPath(new URL('../data/', import.meta.url));

/** The time at which the generated events end. Programs under test take it as the present, so that files never get too old. */
export const BENCH_NOW_MS = Date.UTC(2026, 0, 1);

const CHUNK_BYTES = 1024 * 1024;

export interface EventFile {
  readonly path: string;
  readonly bytes: number;
}

/** The events that engines are filled with, spread over 71 hours. */
export function benchOptions(count: number): GeneratorOptions {
  return { seed: 1, count, zones: 1_700, nowMs: BENCH_NOW_MS, spanMs: 71 * HOUR_MS };
}

/** Live events for an engine that is filled already: they are of the last ten minutes. Each `file`, from 0, has other events. */
export function liveOptions(count: number, file = 0): GeneratorOptions {
  return { seed: 2 + file, count, zones: 1_700, nowMs: BENCH_NOW_MS, spanMs: HOUR_MS / 6 };
}

/** The NDJSON file of the events. It is written if no earlier run has left it. */
export async function eventFile(options: GeneratorOptions, path = defaultPath(options)): Promise<EventFile> {
  const size = await stat(path).then(
    ({ size }) => size,
    () => null,
  );
  if (size !== null) {
    return { path, bytes: size };
  }
  await mkdir(BENCH_DATA, { recursive: true });
  // The file gets its name when it is whole, so that nobody reads half of it.
  const unfinished = `${path}.${process.pid}.part`;
  const bytes = await writeLines(generateEvents(options), unfinished);
  await rename(unfinished, path);
  return { path, bytes };
}

/**
 * The same events in files of at most `eventsPerFile` events, one after the other. A single file is kept, like that of {@link eventFile}.
 * One of several is removed when the next one is requested, because 100 million events take 115 GB.
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

/** Resolves with the length of the file in bytes. */
async function writeLines(lines: Iterable<Buffer>, path: string): Promise<number> {
  await pipeline(Readable.from(inChunks(lines)), createWriteStream(path));
  return (await stat(path)).size;
}

/** The next `max` lines. The iterator keeps the others. */
function* nextLines(lines: Iterator<Buffer>, max: number): Iterable<Buffer> {
  for (let count = 0; count < max; count += 1) {
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

/** Creates an empty folder for the data of a program under test. */
export async function emptyDataDir(name: string): Promise<string> {
  await mkdir(BENCH_DATA, { recursive: true });
  return await mkdtemp(join(BENCH_DATA, `${name}-`));
}

/** Runs `work` with an empty folder and removes the folder afterwards. */
export async function inEmptyDataDir<T>(name: string, work: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = await emptyDataDir(name);
  try {
    return await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

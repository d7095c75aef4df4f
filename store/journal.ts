import { open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppendPlace } from './append-place.ts';
import { syncFolder } from './data-folder.ts';
import type { EventBatch, SourcePosition } from './event-store.ts';

/** One batch on disk. `number` counts up by one from journal to journal, for ever. */
export interface Journal {
  readonly number: number;
  readonly path: string;
  readonly firstSequence: bigint;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly positions: readonly SourcePosition[];
  readonly sizeBytes: number;
  /** Unix milliseconds: when the batch was taken in. */
  readonly ingestedAtMs: number;
}

/**
 * Writes a batch as one NDJSON file, and its logs as another, and returns once both are on disk. The last line of the events, the trailer, says what the files hold
 * and by that marks them whole: without it, or with less in the other file, they are the torn remains of a crash.
 */
export async function writeJournal(
  folder: string,
  { journal: number, sequence: firstSequence }: AppendPlace,
  batch: EventBatch,
  ingestedAtMs: number,
): Promise<Journal> {
  const path = join(folder, journalName(number));
  const [eventBytes, logBytes] = [bytesIn(batch.lines), bytesIn(batch.logs)];
  const trailer = Buffer.from(`${trailerText(firstSequence, batch, { eventBytes, logBytes }, ingestedAtMs)}\n`);
  const written = await Promise.allSettled([
    writeFile(join(folder, logsName(number)), batch.logs),
    writeFile(path, [...batch.lines, trailer]),
  ]);
  for (const result of written) {
    if (result.status === 'rejected') {
      throw result.reason;
    }
  }
  await syncFolder(folder);
  const { eventCount, expiredCount, positions } = batch;
  const sizeBytes = eventBytes + logBytes + trailer.byteLength;
  return { number, path, firstSequence, eventCount, expiredCount, positions, sizeBytes, ingestedAtMs };
}

function bytesIn(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}

async function writeFile(path: string, chunks: readonly Uint8Array[]): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await writeAll(handle, chunks);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** The numbers of the journals in the folder, ascending. */
export async function listJournals(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  const numbers = names.filter((name) => /^\d{12}\.(ndjson|logs)$/.test(name)).map((name) => Number(name.slice(0, 12)));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Reads a journal's trailer; undefined where a file was torn by a crash before it was whole. */
export async function readJournal(folder: string, number: number): Promise<Journal | undefined> {
  const path = join(folder, journalName(number));
  const [content, logs] = await Promise.all([readIfThere(path), readIfThere(join(folder, logsName(number)))]);
  if (content?.at(-1) !== 0x0a) {
    return undefined;
  }
  const start = content.lastIndexOf(0x0a, -2) + 1;
  const trailer = parseTrailer(content.toString('utf8', start));
  if (trailer === undefined || trailer.eventBytes !== start || trailer.logBytes !== logs?.byteLength) {
    return undefined;
  }
  return {
    number,
    path,
    firstSequence: BigInt(trailer.firstSequence),
    eventCount: trailer.eventCount,
    expiredCount: trailer.expiredCount,
    positions: trailer.positions.map(([topic, partition, nextOffset]) => ({ topic, partition, nextOffset: BigInt(nextOffset) })),
    sizeBytes: content.byteLength + trailer.logBytes,
    ingestedAtMs: trailer.ingestedAtMs,
  };
}

/** The logs of a whole journal, newline-terminated. */
export async function readJournalLogs(folder: string, number: number): Promise<Buffer> {
  return await readFile(join(folder, logsName(number)));
}

/** Undefined where there is no such file. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  });
}

/** Removes journals for good; one that is gone already is no error. */
export async function removeJournals(folder: string, numbers: readonly number[]): Promise<void> {
  // The logs last: without its events a journal is torn for good.
  for (const name of numbers.flatMap((number) => [journalName(number), logsName(number)])) {
    await unlink(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw error;
      }
    });
  }
  await syncFolder(folder);
}

interface Trailer {
  readonly firstSequence: string;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly eventBytes: number;
  readonly logBytes: number;
  readonly ingestedAtMs: number;
  readonly positions: readonly (readonly [topic: string, partition: number, nextOffset: string])[];
}

function trailerText(
  firstSequence: bigint,
  batch: EventBatch,
  { eventBytes, logBytes }: Pick<Trailer, 'eventBytes' | 'logBytes'>,
  ingestedAtMs: number,
): string {
  const trailer: Trailer = {
    firstSequence: String(firstSequence),
    eventCount: batch.eventCount,
    expiredCount: batch.expiredCount,
    eventBytes,
    logBytes,
    ingestedAtMs,
    positions: batch.positions.map(({ topic, partition, nextOffset }) => [topic, partition, String(nextOffset)]),
  };
  return JSON.stringify({ journalTrailer: trailer });
}

function parseTrailer(line: string): Trailer | undefined {
  try {
    return (JSON.parse(line) as { journalTrailer?: Trailer }).journalTrailer;
  } catch {
    // Not JSON: the file ends in the middle of an event, which is what a torn journal looks like.
    return undefined;
  }
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) {
    let written = 0;
    while (written < chunk.byteLength) {
      written += (await handle.write(chunk, written)).bytesWritten;
    }
  }
}

function journalName(number: number): string {
  return `${String(number).padStart(12, '0')}.ndjson`;
}

function logsName(number: number): string {
  return `${String(number).padStart(12, '0')}.logs`;
}

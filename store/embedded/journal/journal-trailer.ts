import { crc32 } from 'node:zlib';
import type { EventBatch } from '../../event-store.ts';
import type { Journal } from './journal.ts';

const NEWLINE = 0x0a;

/** The last line of a journal's logs says what its files hold. */
interface Trailer {
  readonly number: number;
  readonly firstSequence: string;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly events: Content;
  readonly logs: Content;
  readonly ingestedAtMs: number;
  /** The source offsets; on disk they keep an old name. */
  readonly positions: readonly (readonly [topic: string, partition: number, nextOffset: string])[];
}

/** What a file holds, but for the trailer. A file may have been another one before, of which a crash can leave parts. */
interface Content {
  readonly bytes: number;
  readonly crc32: number;
}

function contentOf(chunks: readonly Uint8Array[]): Content {
  return {
    bytes: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
    crc32: chunks.reduce((checksum, chunk) => crc32(chunk, checksum), 0),
  };
}

/** The trailer of a journal with this batch, whose file of events consists of these pieces, and how long its files are with it. */
export function trailerOf(
  batch: EventBatch,
  events: readonly Uint8Array[],
  { number, firstSequence, ingestedAtMs }: Pick<Journal, 'number' | 'firstSequence' | 'ingestedAtMs'>,
): { readonly trailer: Buffer; readonly sizeBytes: number } {
  const content: Trailer = {
    number,
    firstSequence: String(firstSequence),
    eventCount: batch.eventCount,
    expiredCount: batch.expiredCount,
    events: contentOf(events),
    logs: contentOf(batch.logs),
    ingestedAtMs,
    positions: batch.sourceOffsets.map(({ topic, partition, nextOffset }) => [topic, partition, String(nextOffset)]),
  };
  const trailer = Buffer.from(`${JSON.stringify({ journalTrailer: content })}\n`);
  return { trailer, sizeBytes: content.events.bytes + content.logs.bytes + trailer.byteLength };
}

/**
 * What the journal of this number is, whose files have this content; undefined where that is not what its trailer says, or there is none.
 */
export function journalOf(number: number, path: string, events: Buffer, logs: Buffer): Journal | undefined {
  const content = withoutTrailer(logs);
  const trailer = logs.at(-1) === NEWLINE ? parseTrailer(logs.toString('utf8', content.length)) : undefined;
  if (trailer?.number !== number || !isWhole(events, trailer.events) || !isWhole(content, trailer.logs)) {
    return undefined;
  }
  return {
    number,
    path,
    firstSequence: BigInt(trailer.firstSequence),
    eventCount: trailer.eventCount,
    expiredCount: trailer.expiredCount,
    sourceOffsets: trailer.positions.map(([topic, partition, nextOffset]) => ({ topic, partition, nextOffset: BigInt(nextOffset) })),
    sizeBytes: events.byteLength + logs.byteLength,
    ingestedAtMs: trailer.ingestedAtMs,
    hasFiles: true,
  };
}

/** The lines of a file of logs but for the last one. */
export function withoutTrailer(logs: Buffer): Buffer {
  return logs.subarray(0, logs.lastIndexOf(NEWLINE, -2) + 1);
}

function isWhole(content: Buffer, expected: Content): boolean {
  return content.byteLength === expected.bytes && crc32(content) === expected.crc32;
}

function parseTrailer(line: string): Trailer | undefined {
  try {
    return (JSON.parse(line) as { journalTrailer?: Trailer }).journalTrailer;
  } catch {
    // Not JSON: the file ends in the middle of a line, which is what a torn journal looks like.
    return undefined;
  }
}

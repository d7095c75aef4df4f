import { crc32 } from 'node:zlib';
import { NEWLINE } from '../../../query/json-bytes.ts';
import type { EventBatch, SourceOffset } from '../../event-store.ts';
import { widestColumnIn } from '../../parquet/batch-file.ts';

/** One batch on disk. `number` counts up by one from journal to journal, for ever. */
export interface Journal {
  readonly number: number;
  /** The path of the file with its events. */
  readonly path: string;
  readonly firstSequence: bigint;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly sourceOffsets: readonly SourceOffset[];
  readonly sizeBytes: number;
  /** When the batch was taken in, in Unix milliseconds. */
  readonly ingestedAtMs: number;
  /** False where none of its events is new. Then a row of the catalog stands for it. */
  readonly hasFiles: boolean;
  /** What the file with its events has to hold; absent where it has no files. */
  readonly content?: FileContent;
  /** At least the bytes of the largest column of its events, 0 where it has no files. */
  readonly widestColumnBytes: number;
}

/** The number of the next journal and the sequence of its first event. */
export interface JournalEnd {
  readonly journal: number;
  readonly sequence: bigint;
}

/** Greater than every sequence. */
export const END_OF_SEQUENCE = (1n << 63n) - 1n;

export function endAfter(journal: Journal): JournalEnd {
  return { journal: journal.number + 1, sequence: journal.firstSequence + BigInt(journal.eventCount) };
}

/** The last line of a journal's logs. It says what the files of the journal hold. */
interface Trailer {
  readonly number: number;
  readonly firstSequence: string;
  readonly eventCount: number;
  readonly expiredCount: number;
  readonly events: FileContent;
  readonly logs: FileContent;
  readonly ingestedAtMs: number;
  /** The source offsets. On disk they keep an old name. */
  readonly positions: readonly (readonly [topic: string, partition: number, nextOffset: string, topicId?: string])[];
}

/** The content of a file before its trailer. A recycled file had other content, and a crash can leave parts of it. */
export interface FileContent {
  readonly bytes: number;
  readonly crc32: number;
}

function contentOf(chunks: readonly Uint8Array[]): FileContent {
  return {
    bytes: chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),
    crc32: chunks.reduce((checksum, chunk) => crc32(chunk, checksum), 0),
  };
}

/**
 * Returns the trailer of a journal with this batch, the size of the journal's files with it, and what it says of `events`, the content of
 * the file of events.
 */
export function trailerOf(
  batch: EventBatch,
  events: readonly Uint8Array[],
  { number, firstSequence, ingestedAtMs }: Pick<Journal, 'number' | 'firstSequence' | 'ingestedAtMs'>,
): { readonly trailer: Buffer; readonly sizeBytes: number; readonly content: FileContent } {
  const content: Trailer = {
    number,
    firstSequence: String(firstSequence),
    eventCount: batch.eventCount,
    expiredCount: batch.expiredCount,
    events: contentOf(events),
    logs: contentOf(batch.logs),
    ingestedAtMs,
    positions: batch.sourceOffsets.map(({ topic, partition, nextOffset, topicId }) =>
      topicId === undefined ? [topic, partition, String(nextOffset)] : [topic, partition, String(nextOffset), topicId],
    ),
  };
  const trailer = lineOf(content);
  const sizeBytes = content.events.bytes + content.logs.bytes + trailer.byteLength;
  return { trailer, sizeBytes, content: content.events };
}

function lineOf(trailer: Trailer): Buffer {
  const text = JSON.stringify(trailer);
  return Buffer.from(`{"journalTrailer":${text},"crc32":${crc32(text)}}\n`);
}

/** The logs of a whole journal with a trailer that gives it another number. */
export function withNumber(logs: Buffer, number: number): Buffer {
  const content = withoutTrailer(logs);
  const trailer = parseTrailer(logs.toString('utf8', content.length));
  if (trailer === undefined) {
    throw new Error('a journal that is not whole gets no other number');
  }
  return Buffer.concat([content, lineOf({ ...trailer, number })]);
}

/** Reads a journal from the content of its files. Returns undefined where there is no trailer or the files are not what it says. */
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
    sourceOffsets: trailer.positions.map(([topic, partition, nextOffset, topicId]) => ({
      ...{ topic, partition, nextOffset: BigInt(nextOffset) },
      ...(topicId === undefined ? {} : { topicId }),
    })),
    sizeBytes: events.byteLength + logs.byteLength,
    ingestedAtMs: trailer.ingestedAtMs,
    hasFiles: true,
    content: trailer.events,
    widestColumnBytes: trailer.eventCount === 0 ? 0 : widestColumnIn(events),
  };
}

/** How many events a journal had whose files are not whole, as far as its logs tell. */
export function eventsOfDamaged(logs: Buffer): number {
  const trailer = parseTrailer(logs.toString('utf8', withoutTrailer(logs).length));
  return trailer?.eventCount ?? logs.reduce((lines, byte) => lines + Number(byte === NEWLINE), 0);
}

/** The lines of a file of logs without the last one. */
export function withoutTrailer(logs: Buffer): Buffer {
  return logs.subarray(0, logs.lastIndexOf(NEWLINE, -2) + 1);
}

function isWhole(content: Buffer, expected: FileContent): boolean {
  return content.byteLength === expected.bytes && crc32(content) === expected.crc32;
}

function parseTrailer(line: string): Trailer | undefined {
  try {
    const { journalTrailer: trailer, crc32: checksum } = JSON.parse(line) as { journalTrailer?: Trailer; crc32?: number };
    // Earlier versions wrote none.
    const isAsWritten = checksum === undefined || checksum === crc32(JSON.stringify(trailer));
    return isAsWritten && isTrailer(trailer) ? trailer : undefined;
  } catch {
    // The file ends in the middle of a line: the journal is torn.
    return undefined;
  }
}

/** Whether what stands in the place of a trailer has the members of one. Damage may have changed a name, too. */
function isTrailer(trailer: Trailer | undefined): trailer is Trailer {
  const { firstSequence, eventCount, expiredCount, events, logs, ingestedAtMs, positions } = trailer ?? ({} as Partial<Trailer>);
  const numbers = [eventCount, expiredCount, ingestedAtMs, events?.bytes, events?.crc32, logs?.bytes, logs?.crc32];
  return numbers.every(Number.isSafeInteger) && /^\d+$/.test(String(firstSequence)) && Array.isArray(positions);
}

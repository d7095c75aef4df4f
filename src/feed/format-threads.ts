import { availableParallelism } from 'node:os';
import type { FeedLine } from '../../store/event-store.ts';
import { WorkerPool } from '../../work/worker-pool.ts';
import { FEED_FORMATS, type FeedFormatName } from '../formats/feed-formats.ts';
import { copiedChunk, type FormatTask, formatTask, pieces, transferListOf, writersByFormat, writtenChunks } from './format-lines.ts';

/** Fewer events are written on the main thread, because waking or starting a thread takes longer. */
const MIN_EVENTS_FOR_THREAD = 50;
/** A longer event would hold the main thread up for too long, so it waits for a thread. */
const MAX_BYTES_HERE = 64 * 1024;
const MAX_THREADS = 4;
/** Pieces beyond the number of threads that are written in advance, so that no thread waits for the others. */
const MAX_AHEAD = 4;

/** Some events of an answer as lines. */
export interface WrittenPiece {
  readonly chunk: Buffer;
  readonly events: number;
  readonly lastSequence: bigint;
}

interface Ahead {
  readonly lines: Pick<WrittenPiece, 'events' | 'lastSequence'>;
  readonly chunk: Promise<Buffer>;
}

async function whole({ lines, chunk }: Ahead): Promise<WrittenPiece> {
  return { ...lines, chunk: await chunk };
}

/**
 * Writes events in the formats of the feed. To write an event takes ten times as long as to send a stored one, so threads do most of it,
 * and the main thread does the rest.
 */
export class FormatThreads {
  readonly #count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #writerOf = writersByFormat();
  readonly #pool = new WorkerPool<FormatTask, Uint8Array>({
    module: new URL('./format-lines.ts', import.meta.url),
    maxThreads: this.#count,
  });

  /** Writes the events of a page in order. */
  async *write(lines: readonly FeedLine[], format: FeedFormatName): AsyncGenerator<WrittenPiece, void> {
    const ahead: Ahead[] = [];
    const onThreads = { pieces: 0 };
    // Stored events are copied one piece at a time, without threads.
    const maxAhead = FEED_FORMATS[format].isStored ? 0 : this.#count + MAX_AHEAD;
    for (const piece of pieces(lines)) {
      const lastSequence = piece.at(-1)?.sequence ?? 0n;
      ahead.push({ lines: { events: piece.length, lastSequence }, chunk: this.#begin(piece, format, onThreads) });
      while (ahead.length > maxAhead) yield await whole(ahead.shift() as Ahead);
    }
    for (const piece of ahead) yield await whole(piece);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #begin(piece: readonly FeedLine[], format: FeedFormatName, onThreads: { pieces: number }): Promise<Buffer> {
    if (FEED_FORMATS[format].isStored) {
      return Promise.resolve(copiedChunk(piece));
    }
    const isForThread = piece.some(({ start, end }) => end - start > MAX_BYTES_HERE);
    if (!isForThread && (piece.length < MIN_EVENTS_FOR_THREAD || onThreads.pieces > this.#count)) {
      return Promise.resolve(Buffer.concat([...writtenChunks(piece, this.#writerOf(format))]));
    }
    onThreads.pieces += 1;
    const chunk = this.#writeOnThread(piece, format).finally(() => {
      onThreads.pieces -= 1;
    });
    // The generator awaits the chunk later, or never, if the answer is cut short.
    chunk.catch(() => undefined);
    return chunk;
  }

  async #writeOnThread(piece: readonly FeedLine[], format: FeedFormatName): Promise<Buffer> {
    const task = formatTask(format, piece);
    const { buffer, byteOffset, byteLength } = await this.#pool.run(task, transferListOf(task));
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}

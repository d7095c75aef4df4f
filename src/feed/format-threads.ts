import { availableParallelism } from 'node:os';
import type { FeedLine } from '../../store/event-store.ts';
import { WorkerPool } from '../../work/worker-pool.ts';
import { FEED_FORMATS } from '../formats/feed-formats.ts';
import {
  copiedChunk,
  type FormatResult,
  type FormatTask,
  formatTask,
  type LineForm,
  pieces,
  transferListOf,
  writersByFormat,
  writtenChunks,
} from './format-lines.ts';
import { LineLimit, type LongLines } from './line-limit.ts';

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
  readonly longLines: LongLines;
}

type WrittenLines = Pick<WrittenPiece, 'chunk' | 'longLines'>;

interface Ahead {
  readonly lines: Pick<WrittenPiece, 'events' | 'lastSequence'>;
  readonly written: Promise<WrittenLines>;
}

async function whole({ lines, written }: Ahead): Promise<WrittenPiece> {
  return { ...lines, ...(await written) };
}

/**
 * Writes events in the formats of the feed. To write an event takes ten times as long as to send a stored one, so threads do most of it,
 * and the main thread does the rest.
 */
export class FormatThreads {
  readonly #count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #writerOf = writersByFormat();
  readonly #pool = new WorkerPool<FormatTask, FormatResult>({
    module: new URL('./format-lines.ts', import.meta.url),
    maxThreads: this.#count,
  });

  /** Writes the events of a page in order. */
  async *write(lines: readonly FeedLine[], form: LineForm): AsyncGenerator<WrittenPiece, void> {
    const ahead: Ahead[] = [];
    const onThreads = { pieces: 0 };
    // Stored events are copied one piece at a time, without threads.
    const maxAhead = FEED_FORMATS[form.format].isStored ? 0 : this.#count + MAX_AHEAD;
    for (const piece of pieces(lines)) {
      const lastSequence = piece.at(-1)?.sequence ?? 0n;
      ahead.push({ lines: { events: piece.length, lastSequence }, written: this.#begin(piece, form, onThreads) });
      while (ahead.length > maxAhead) yield await whole(ahead.shift() as Ahead);
    }
    for (const piece of ahead) yield await whole(piece);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #begin(piece: readonly FeedLine[], form: LineForm, onThreads: { pieces: number }): Promise<WrittenLines> {
    const limit = new LineLimit(form.maxLine);
    if (FEED_FORMATS[form.format].isStored) {
      const chunk = copiedChunk(piece.map((line) => limit.stored(line)));
      return Promise.resolve({ chunk, longLines: limit.counts });
    }
    const isForThread = piece.some(({ start, end }) => end - start > MAX_BYTES_HERE);
    if (!isForThread && (piece.length < MIN_EVENTS_FOR_THREAD || onThreads.pieces > this.#count)) {
      const chunk = Buffer.concat([...writtenChunks(piece, this.#writerOf(form.format), limit)]);
      return Promise.resolve({ chunk, longLines: limit.counts });
    }
    onThreads.pieces += 1;
    const written = this.#writeOnThread(piece, form).finally(() => {
      onThreads.pieces -= 1;
    });
    // The generator awaits it later, or never, if the answer is cut short.
    written.catch(() => undefined);
    return written;
  }

  async #writeOnThread(piece: readonly FeedLine[], form: LineForm): Promise<WrittenLines> {
    const task = formatTask(form, piece);
    const { bytes, longLines } = await this.#pool.run(task, transferListOf(task));
    return { chunk: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), longLines };
  }
}

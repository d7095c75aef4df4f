import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { FeedLine } from '../../store/event-store.ts';
import { cached } from '../formats/bounded-cache.ts';
import { FEED_FORMATS, type FeedFormatName, feedFormat } from '../formats/feed-format.ts';
import { copiedChunk, pieces, writtenChunks } from './feed-chunks.ts';
import { type FormatTask, formatTask, transferredWith } from './format-task.ts';

/** Fewer events are written where they are: a thread that has gone to sleep takes longer to wake, and a new one longer still. */
const FEW_EVENTS = 50;
const MAX_THREADS = 4;
const IDLE_MS = 60_000;
/** Beyond the threads, pieces that are being written or wait to be handed over: so many that no thread waits for the others. */
const MAX_AHEAD = 4;

/** A piece of the answer: some events, each whole. */
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
 * Writes events in a format other than their own, which takes ten times as long as to send them. Threads beside the one that everybody
 * shares take what they can, and that one the rest. They start when there is much to do, and end when there has been nothing for a minute.
 */
export class FormatThreads {
  readonly #count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #format = cached(FEED_FORMATS.length, feedFormat);
  #pool: Piscina<FormatTask, Uint8Array> | undefined;

  /** The events of a page in order, a line each, as bytes. */
  async *write(lines: readonly FeedLine[], name: FeedFormatName): AsyncGenerator<WrittenPiece, void> {
    const ahead: Ahead[] = [];
    const waiting = { pieces: 0 };
    // Events as they are need no thread, and are copied one piece at a time.
    const maxAhead = name === 'native' ? 0 : this.#count + MAX_AHEAD;
    for (const piece of pieces(lines)) {
      const lastSequence = piece.at(-1)?.sequence ?? 0n;
      ahead.push({ lines: { events: piece.length, lastSequence }, chunk: this.#begin(piece, name, waiting) });
      while (ahead.length > maxAhead) yield await whole(ahead.shift() as Ahead);
    }
    for (const piece of ahead) yield await whole(piece);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #begin(piece: readonly FeedLine[], name: FeedFormatName, waiting: { pieces: number }): Promise<Buffer> {
    if (name === 'native') {
      return Promise.resolve(copiedChunk(piece));
    }
    if (piece.length < FEW_EVENTS || waiting.pieces > this.#count) {
      return Promise.resolve(Buffer.concat([...writtenChunks(piece, this.#format(name))]));
    }
    waiting.pieces += 1;
    const chunk = this.#writeBeside(piece, name).finally(() => {
      waiting.pieces -= 1;
    });
    // It is looked at in its turn; should the answer be cut short, nobody asks.
    chunk.catch(() => undefined);
    return chunk;
  }

  async #writeBeside(piece: readonly FeedLine[], name: FeedFormatName): Promise<Buffer> {
    this.#pool ??= new Piscina({
      filename: new URL('./format-worker.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: this.#count,
      idleTimeout: IDLE_MS,
    });
    const task = formatTask(name, piece);
    const { buffer, byteOffset, byteLength } = await this.#pool.run(task, { transferList: transferredWith(task) });
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}

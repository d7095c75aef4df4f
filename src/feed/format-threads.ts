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

/** A piece of the answer. */
interface Written {
  readonly chunk: Promise<Buffer>;
  isThere: boolean;
}

function there(chunk: Buffer): Written {
  return { chunk: Promise.resolve(chunk), isThere: true };
}

/**
 * Writes events in a format other than their own, which takes ten times as long as to send them. Threads beside the one that everybody shares take what
 * they can, and that one the rest. They start when there is much to do, and end when there has been nothing for a minute.
 */
export class FormatThreads {
  readonly #count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #format = cached(FEED_FORMATS.length, feedFormat);
  #pool: Piscina<FormatTask, Uint8Array> | undefined;

  /** The events of all pages in order, a line each, as bytes. */
  async *write(pages: AsyncIterable<readonly FeedLine[]>, name: FeedFormatName): AsyncGenerator<Buffer> {
    const ahead: Written[] = [];
    const waiting = { pieces: 0 };
    for await (const lines of pages) {
      for (const piece of pieces(lines)) {
        ahead.push(...this.#begin(piece, name, waiting));
        while (ahead.length > this.#count + MAX_AHEAD) yield await (ahead.shift() as Written).chunk;
      }
      // What is there goes out before the next page is waited for.
      while (ahead[0]?.isThere) yield await (ahead.shift() as Written).chunk;
    }
    for (const { chunk } of ahead) yield await chunk;
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #begin(piece: readonly FeedLine[], name: FeedFormatName, waiting: { pieces: number }): Written[] {
    if (name === 'native') {
      return [there(copiedChunk(piece))];
    }
    if (piece.length < FEW_EVENTS || waiting.pieces > this.#count) {
      return Array.from(writtenChunks(piece, this.#format(name)), there);
    }
    waiting.pieces += 1;
    const chunk = this.#writeBeside(piece, name).finally(() => {
      waiting.pieces -= 1;
      written.isThere = true;
    });
    const written: Written = { chunk, isThere: false };
    // It is looked at in its turn; should the answer be cut short, nobody asks.
    chunk.catch(() => undefined);
    return [written];
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

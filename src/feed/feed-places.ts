import { RequestProblem } from '../http/problem.ts';

/** Each holds some pages of the store, and a part of the processor, for as long as its client reads. */
export const READERS_AT_ONCE = 64;
/**
 * Those that wait for events hold next to nothing, but one event may wake all of them, and the store has room for 256 questions that wait.
 */
export const WAITING_AT_ONCE = 128;

/** The place of one request among those to the feed. */
export interface FeedPlace {
  /** From here on it waits for events. Throws RequestProblem `store.busy` where too many do. */
  wait(): void;
  /** What it waited for is there: it reads. Never refused, because whoever has waited has little to read. */
  read(): void;
  leave(): void;
}

function busy(count: number, what: string, most: number): RequestProblem {
  const detail = `${count} requests ${what} the feed; allowed: at most ${most} at once`;
  return new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' } });
}

/** Counts the requests to the feed: those that read, and those that wait. */
export class FeedPlaces {
  readonly #counts = { reading: 0, waiting: 0 };

  get reading(): number {
    return this.#counts.reading;
  }

  get waiting(): number {
    return this.#counts.waiting;
  }

  /** A place for a request that reads. Throws RequestProblem `store.busy` where all are taken. */
  take(): FeedPlace {
    const counts = this.#counts;
    if (counts.reading >= READERS_AT_ONCE) throw busy(counts.reading, 'read', READERS_AT_ONCE);
    let now: keyof typeof counts | null = 'reading';
    counts.reading += 1;
    const become = (next: typeof now): void => {
      if (now === null) return;
      counts[now] -= 1;
      if (next !== null) counts[next] += 1;
      now = next;
    };
    return {
      wait: () => {
        if (now === 'reading' && counts.waiting >= WAITING_AT_ONCE) throw busy(counts.waiting, 'wait for events of', WAITING_AT_ONCE);
        become('waiting');
      },
      read: () => become('reading'),
      leave: () => become(null),
    };
  }
}

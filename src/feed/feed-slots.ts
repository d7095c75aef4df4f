import type { Registry } from 'prom-client';
import { levelRead } from '../http/metric-registry.ts';
import { RequestProblem } from '../http/problem.ts';

/** Each reading request needs pages of the store and processor time for as long as its client reads. */
export const MAX_READERS = 64;
/** A waiting request needs little, but one event may wake all of them. */
export const MAX_WAITING_READERS = 128;

/** The slot of one request to the feed. */
export interface FeedSlot {
  /** The request waits for events now. Throws RequestProblem `store.busy` where too many wait. */
  wait(): void;
  /** The request reads now. Never refused, because a request that has waited has little to read. */
  read(): void;
  release(): void;
}

function busy(count: number, what: string, max: number): RequestProblem {
  const detail = `${count} requests ${what} the feed; allowed: at most ${max} at once`;
  return new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' } });
}

/** Limits the requests to the feed that read, and those that wait. */
export class FeedSlots {
  readonly #counts = { reading: 0, waiting: 0 };

  get reading(): number {
    return this.#counts.reading;
  }

  get waiting(): number {
    return this.#counts.waiting;
  }

  /** Takes a slot for a request that reads. Throws RequestProblem `store.busy` where none is free. */
  take(): FeedSlot {
    const counts = this.#counts;
    if (counts.reading >= MAX_READERS) throw busy(counts.reading, 'read', MAX_READERS);
    let state: keyof typeof counts | null = 'reading';
    counts.reading += 1;
    const become = (next: typeof state): void => {
      if (state === null) return;
      counts[state] -= 1;
      if (next !== null) counts[next] += 1;
      state = next;
    };
    return {
      wait: () => {
        if (state === 'reading' && counts.waiting >= MAX_WAITING_READERS)
          throw busy(counts.waiting, 'wait for events of', MAX_WAITING_READERS);
        become('waiting');
      },
      read: () => become('reading'),
      release: () => become(null),
    };
  }
}

/** Shows the numbers of reading and waiting requests on `/metrics`. */
export function registerFeedMetrics(registry: Registry, slots: Pick<FeedSlots, 'reading' | 'waiting'>): void {
  levelRead(registry, 'shieldlog_feed_readers', 'Requests to the feed that are being answered', () => slots.reading);
  levelRead(registry, 'shieldlog_feed_waiting', 'Requests to the feed that wait for events', () => slots.waiting);
}

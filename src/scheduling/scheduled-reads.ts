import { exploreCost, type ReadCost, searchCost } from '../../query/plan/read-cost.ts';
import type { SearchPlan, TimeWindow, ZoneSelection } from '../../query/plan/search-plan.ts';
import type { EventRow } from '../../query/plan/search-result.ts';
import type { EventStore, SearchOptions } from '../../store/event-store.ts';
import type { FairQueue, QueuedRead } from './fair-queue.ts';

/** What reads the events of a store. */
export type Reads = Pick<EventStore, 'search' | 'explore' | 'activeZones' | 'readAll' | 'readFeed'>;

/** A read that is estimated to take no more of one core is light. */
const LIGHT_NS = 50_000_000;

const NEVER = new AbortController().signal;

type Estimate = Pick<QueuedRead, 'isLight' | 'bytes' | 'isRefusable'>;

/** The counts of most zones are known without reading. */
const ZONES: Estimate = { isLight: true, bytes: 0, isRefusable: true };

/** Few events, for which nothing has to be looked through. The slots of the feed and of exports bound their number. */
const PAGE: Estimate = { isLight: true, bytes: 0, isRefusable: false };

/** The reads of a store, each of which waits for its turn in the queue. */
export class ScheduledReads {
  readonly #store: Reads & Pick<EventStore, 'mostEvents' | 'onEvents'>;
  readonly queue: FairQueue;

  constructor(store: Reads & Pick<EventStore, 'mostEvents' | 'onEvents'>, queue: FairQueue) {
    this.#store = store;
    this.queue = queue;
    store.onEvents(() => queue.noteIntake());
  }

  /** The reads of one caller. Beside the errors of the store they reject with RequestProblem `caller.busy`. */
  of(flow: string): Reads {
    const store = this.#store;
    return {
      search: (plan, options) => {
        const read = this.#estimated(searchCost(plan), plan.zones, plan.window);
        return this.#run(flow, read, options, () => store.search(plan, options));
      },
      explore: (plan, options) => {
        const read = this.#estimated(exploreCost(plan), plan.search.zones, plan.search.window);
        return this.#run(flow, read, options, () => store.explore(plan, options));
      },
      activeZones: (window, zones, options) => this.#run(flow, ZONES, options, () => store.activeZones(window, zones, options)),
      readAll: (plan, options) => this.#readAll(flow, plan, options),
      readFeed: (request, options) => this.#run(flow, PAGE, options, () => store.readFeed(request, options)),
    };
  }

  #estimated({ eventNs, bytes }: ReadCost, zones: ZoneSelection, window: TimeWindow): Estimate {
    return { isLight: eventNs * this.#store.mostEvents(zones, window) <= LIGHT_NS, bytes, isRefusable: true };
  }

  #run<T>(flow: string, estimate: Estimate, { signal = NEVER }: SearchOptions = {}, work: () => Promise<T>): Promise<T> {
    return this.queue.run({ ...estimate, flow, signal }, work);
  }

  async *#readAll(flow: string, plan: SearchPlan, options?: SearchOptions): AsyncGenerator<Iterable<EventRow>, void, void> {
    const pieces = this.#store.readAll(plan, options)[Symbol.asyncIterator]();
    // The first piece has to find where the events are.
    let estimate: Estimate = { ...this.#estimated(searchCost(plan), plan.zones, plan.window), isRefusable: false };
    try {
      for (;;) {
        const { value, done } = await this.#run(flow, estimate, options, () => pieces.next());
        if (done === true) return;
        yield value;
        estimate = PAGE;
      }
    } finally {
      await pieces.return?.();
    }
  }
}

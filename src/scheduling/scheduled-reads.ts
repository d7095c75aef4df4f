import { exploreCost, predicateCost, type ReadCost, RULES_COST, searchCost } from '../../query/plan/read-cost.ts';
import type { Predicate, TimeWindow, ZoneSelection } from '../../query/plan/search-plan.ts';
import type { RowPiece, SearchResult } from '../../query/plan/search-result.ts';
import { mostLookedAt } from '../../query/plan/wanted-events.ts';
import type { EventStore, SearchOptions } from '../../store/event-store.ts';
import type { FairQueue, QueuedRead } from './fair-queue.ts';

/** What reads the events of a store. */
export type Reads = Pick<EventStore, 'search' | 'explore' | 'activeZones' | 'activeRules' | 'readAll' | 'readFeed'>;

/** A read that is estimated to take no more of one core is light. */
const LIGHT_NS = 50_000_000;

const NEVER = new AbortController().signal;

type Estimate = Pick<QueuedRead, 'isLight' | 'bytes' | 'isRefusable'>;

/** What a read of the active zones is estimated to take: the counts of most zones are known without reading. */
const ZONES: Estimate = { isLight: true, bytes: 0, isRefusable: true };

/** What a page of the feed or an export takes: nothing has to be looked through for its events. Slots bound the number of such reads. */
const PAGE: Estimate = { isLight: true, bytes: 0, isRefusable: false };

/** What a page takes for whose events others are looked at. */
function pageWhere(where: Predicate): Estimate {
  const { eventNs, bytes } = predicateCost(where);
  return { ...PAGE, isLight: eventNs * mostLookedAt({ where }) <= LIGHT_NS, bytes };
}

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
        const found = this.#run(flow, read, options, () => store.search(plan, options));
        return found.then((page) => this.#pageInTurn(flow, page, options));
      },
      explore: (plan, options) => {
        const read = this.#estimated(exploreCost(plan), plan.search.zones, plan.search.window);
        const found = this.#run(flow, read, options, () => store.explore(plan, options));
        return found.then((result) => ({ ...result, page: this.#pageInTurn(flow, result.page, options) }));
      },
      activeZones: (window, zones, options) => this.#run(flow, ZONES, options, () => store.activeZones(window, zones, options)),
      activeRules: (window, zones, options) => {
        return this.#run(flow, this.#estimated(RULES_COST, zones, window), options, () => store.activeRules(window, zones, options));
      },
      readAll: (plan, options) => {
        // The first piece has to find where the events are.
        const estimate = { ...this.#estimated(searchCost(plan), plan.zones, plan.window), isRefusable: false };
        return this.#inTurn(flow, store.readAll(plan, options), estimate, options);
      },
      readFeed: (request, options) => {
        return this.#run(flow, pageWhere(request.where ?? { kind: 'everything' }), options, () => store.readFeed(request, options));
      },
    };
  }

  #estimated({ eventNs, bytes }: ReadCost, zones: ZoneSelection, window: TimeWindow): Estimate {
    return { isLight: eventNs * this.#store.mostEvents(zones, window) <= LIGHT_NS, bytes, isRefusable: true };
  }

  #run<T>(flow: string, estimate: Estimate, { signal = NEVER }: SearchOptions = {}, work: () => Promise<T>): Promise<T> {
    return this.queue.run({ ...estimate, flow, signal }, work);
  }

  /** The page of a search that has had its turn, whose first rows are there. */
  #pageInTurn(flow: string, page: SearchResult, options?: SearchOptions): SearchResult {
    return page.kind === 'groups' ? page : { ...page, rows: this.#inTurn(flow, page.rows, 'there', options) };
  }

  /** Each piece has a turn of its own, but for a first one that is there. No generator: one that is not begun would give nothing back. */
  #inTurn(
    flow: string,
    pieces: AsyncIterable<RowPiece>,
    first: Estimate | 'there',
    options?: SearchOptions,
  ): AsyncIterableIterator<RowPiece, void> {
    const left = pieces[Symbol.asyncIterator]();
    let next = first;
    const inTurn: AsyncIterableIterator<RowPiece, void> = {
      next: async () => {
        const result = await (next === 'there' ? left.next() : this.#run(flow, next, options, () => left.next()));
        next = result.done === true || result.value.isLast ? 'there' : PAGE;
        return result;
      },
      return: async () => {
        await left.return?.();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]: () => inTurn,
    };
    return inTurn;
  }
}

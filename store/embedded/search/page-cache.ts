import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { SearchResult } from '../../../query/plan/search-result.ts';
import { BudgetedCache } from '../runtime/budgeted-cache.ts';
import type { ZoneEnds } from '../snapshot/version-set.ts';
import type { SearchScope } from './search-scope.ts';
import { searchKey } from './segment-counts.ts';

interface CachedPage {
  readonly page: SearchResult;
  /** No event from this sequence on was known to the search. */
  readonly endSequence: bigint;
  readonly expiries: number;
  /** What it takes in memory. */
  readonly sizeBytes: number;
}

const MAX_BYTES = 16 * 1024 * 1024;
/** Of an entry, and of each of its rows beside their texts; rounded up. */
const BYTES_OF_AN_OBJECT = 1_024;

/**
 * Caches pages of rows for the next question about the same page, such as one with another selection. Events only come until they expire,
 * so a page is the same until an event of its zones is stored.
 */
export class PageCache {
  readonly #zoneEnds: Pick<ZoneEnds, 'of'>;
  readonly #pages = new BudgetedCache<string, CachedPage>({ budget: MAX_BYTES, sizeOf: ({ sizeBytes }) => sizeBytes });

  constructor(zoneEnds: Pick<ZoneEnds, 'of'>) {
    this.#zoneEnds = zoneEnds;
  }

  of({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>): SearchResult | undefined {
    const cached = this.#pages.use(nameOf(plan));
    if (cached === undefined || cached.expiries !== extent.expiries) {
      return undefined;
    }
    // The page may be of an earlier snapshot than this search, or of a later one.
    const zonesEnd = this.#zoneEnds.of(plan.zones);
    return zonesEnd < cached.endSequence && zonesEnd < extent.endSequence ? cached.page : undefined;
  }

  /** Groups have a cache of their own. */
  keep({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>, page: SearchResult): void {
    if (page.kind === 'rows') {
      const { endSequence, expiries } = extent;
      this.#pages.add(nameOf(plan), { page, endSequence, expiries, sizeBytes: bytesOf(page) });
    }
  }
}

function nameOf(plan: SearchPlan): string {
  const { page, window } = plan;
  return `${searchKey(plan)} ${window.fromMs} ${window.toMs} ${page.index} ${page.size} ${plan.output.kind}`;
}

function bytesOf({ rows }: Extract<SearchResult, { kind: 'rows' }>): number {
  return rows.reduce((sum, { log, logId, fields }) => {
    const characters = Object.values(fields).reduce((length, text) => length + text.length, logId.length);
    return sum + BYTES_OF_AN_OBJECT + log.length + 2 * characters;
  }, BYTES_OF_AN_OBJECT);
}

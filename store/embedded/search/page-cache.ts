import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../../budgeted-cache.ts';
import type { ZoneEnds } from '../snapshot/version-set.ts';
import type { FoundPage, FoundRows } from './row-search.ts';
import { searchKey } from './search-key.ts';
import type { SearchScope } from './search-scope.ts';

interface CachedPage {
  readonly page: FoundRows;
  /** No event from this sequence on was known to the search. */
  readonly endSequence: bigint;
  readonly expiries: number;
  /** What the page takes in memory. */
  readonly sizeBytes: number;
}

export const MAX_PAGE_CACHE_BYTES = 16 * 1024 * 1024;
/** What an entry takes in memory, and each of its rows beside its texts; rounded up. */
const BYTES_OF_AN_ENTRY = 1_024;
const BYTES_OF_A_ROW = 256;
/** A text may take two bytes a character. */
const BYTES_A_CHARACTER = 2;

/**
 * Caches pages of rows for the next question about the same page, such as one with another selection. Events only come until they expire,
 * so a page is the same until an event of its zones is stored.
 */
export class PageCache {
  readonly #zoneEnds: Pick<ZoneEnds, 'of'>;
  readonly #pages = new BudgetedCache<string, CachedPage>({ budget: MAX_PAGE_CACHE_BYTES, sizeOf: ({ sizeBytes }) => sizeBytes });

  constructor(zoneEnds: Pick<ZoneEnds, 'of'>) {
    this.#zoneEnds = zoneEnds;
  }

  of({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>): FoundRows | undefined {
    const cached = this.#pages.use(nameOf(plan));
    if (cached === undefined || cached.expiries !== extent.expiries) {
      return undefined;
    }
    // The page may be of an earlier snapshot than this search, or of a later one.
    const zonesEnd = this.#zoneEnds.of(plan.zones);
    return zonesEnd < cached.endSequence && zonesEnd < extent.endSequence ? cached.page : undefined;
  }

  /** Keeps a page that was read in one piece. Groups have a cache of their own. */
  keep({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>, page: FoundPage): void {
    if (page.kind === 'rows' && page.rest === undefined) {
      const { endSequence, expiries } = extent;
      this.#pages.add(nameOf(plan), { page, endSequence, expiries, sizeBytes: bytesOf(page) });
    }
  }
}

function nameOf(plan: SearchPlan): string {
  const { page, window } = plan;
  return `${searchKey(plan)} ${window.fromMs} ${window.toMs} ${page.index} ${page.size} ${plan.output.kind}`;
}

function bytesOf({ first }: FoundRows): number {
  return BYTES_OF_AN_ENTRY + (first === undefined ? 0 : first.length * BYTES_OF_A_ROW + first.bytes * BYTES_A_CHARACTER);
}

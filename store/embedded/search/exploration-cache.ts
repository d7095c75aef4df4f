import { isDeepStrictEqual } from 'node:util';
import type { GroupDimension } from '../../../query/event-fields.ts';
import type { HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../../budgeted-cache.ts';
import type { ZoneEnds } from '../snapshot/version-set.ts';
import type { FoundPage, FoundRows } from './row-search.ts';
import { searchKey } from './search-key.ts';
import type { SearchExtent, SearchScope } from './search-scope.ts';
import type { CountsByField, EarlierCounts } from './value-counts.ts';

/** A histogram as an earlier question has counted it. */
export interface EarlierHistogram {
  readonly extent: SearchExtent;
  readonly request: HistogramRequest;
  /** The values that have a series of their own. */
  readonly values: readonly string[];
  /** The series of each value and, at the end, that of all others: a count for each bucket. */
  readonly series: readonly (readonly number[])[];
}

/** A page of rows as an earlier question has read it. */
interface EarlierPage {
  readonly extent: SearchExtent;
  readonly page: SearchPlan['page'];
  readonly found: FoundRows;
}

/** What the questions about a search have found. */
interface Exploration {
  readonly counts: ReadonlyMap<GroupDimension, EarlierCounts>;
  readonly histogram: EarlierHistogram | undefined;
  readonly page: EarlierPage | undefined;
  /** What it takes in memory, its key included. */
  readonly sizeBytes: number;
}

export const MAX_EXPLORATION_BYTES = 48 * 1024 * 1024;
/** Measured: a value with its count, beside two bytes for each character. */
const BYTES_OF_A_VALUE = 100;
const BYTES_OF_A_BUCKET = 8;
/** What a row takes beside its texts, which may take two bytes a character. */
const BYTES_OF_A_ROW = 256;
/** An entry without any of these: its key, its objects and its place in the cache, rounded up. */
const BYTES_OF_AN_ENTRY = 2_048;

/**
 * Caches what questions of the explorer have found, for the next question about the same search: another selection, or the same window a
 * little later. Events only come, until they expire, so counts stay true of the events that were stored before a sequence, wherever flushes
 * and merges move them; and a page of rows is the same until an event of its zones is stored.
 */
export class ExplorationCache {
  readonly #zoneEnds: Pick<ZoneEnds, 'of'>;
  readonly #explorations: BudgetedCache<string, Exploration>;

  constructor(zoneEnds: Pick<ZoneEnds, 'of'>, maxBytes = MAX_EXPLORATION_BYTES) {
    this.#zoneEnds = zoneEnds;
    this.#explorations = new BudgetedCache({ budget: maxBytes, sizeOf: ({ sizeBytes }) => sizeBytes });
  }

  of(plan: SearchPlan): Exploration | undefined {
    return this.#explorations.use(nameOf(plan));
  }

  /** The page of the search, where it is known and still the same. */
  pageOf({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>): FoundRows | undefined {
    const earlier = this.of(plan)?.page;
    const isAsked =
      earlier !== undefined &&
      plan.output.kind === 'rows' &&
      isDeepStrictEqual([earlier.page, earlier.extent.window, earlier.extent.expiries], [plan.page, plan.window, extent.expiries]);
    // The page may be of an earlier snapshot than this search, or of a later one.
    const zonesEnd = this.#zoneEnds.of(plan.zones);
    return isAsked && zonesEnd < earlier.extent.endSequence && zonesEnd < extent.endSequence ? earlier.found : undefined;
  }

  /** Keeps the counts in place of earlier ones. A question that counted nothing, such as one for a page of rows alone, leaves nothing. */
  keep({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>, counted: CountsByField, chart: EarlierHistogram | undefined): void {
    if (counted.size === 0 && chart === undefined) {
      return;
    }
    const before = this.of(plan);
    const later = Array.from(counted, ([field, one]) => [field, { extent, counts: one }] as const);
    const counts = new Map([...(before?.counts ?? []), ...later]);
    this.#add(plan, { counts, histogram: chart ?? before?.histogram, page: before?.page });
  }

  /** Keeps a page that was read in one piece, in place of an earlier one. Groups have a cache of their own. */
  keepPage({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>, found: FoundPage): void {
    if (found.kind === 'rows' && found.rest === undefined) {
      const { counts = new Map(), histogram } = this.of(plan) ?? {};
      this.#add(plan, { counts, histogram, page: { extent, page: plan.page, found } });
    }
  }

  #add(plan: SearchPlan, exploration: Omit<Exploration, 'sizeBytes'>): void {
    this.#explorations.add(nameOf(plan), { ...exploration, sizeBytes: bytesOf(exploration) });
  }
}

/** Windows of one length share what is known, because they may be the same one that moves with the clock. */
function nameOf(plan: SearchPlan): string {
  return `${searchKey(plan)} ${plan.window.toMs - plan.window.fromMs}`;
}

function bytesOf({ counts, histogram, page }: Omit<Exploration, 'sizeBytes'>): number {
  const buckets = histogram === undefined ? 0 : histogram.series.length * histogram.request.buckets;
  const rows = page?.found.first;
  let bytes = BYTES_OF_AN_ENTRY + BYTES_OF_A_BUCKET * buckets + (rows === undefined ? 0 : rows.length * BYTES_OF_A_ROW + 2 * rows.bytes);
  for (const value of histogram?.values ?? []) {
    bytes += BYTES_OF_A_VALUE + 2 * value.length;
  }
  for (const { counts: one } of counts.values()) {
    for (const { value } of one.first) {
      bytes += BYTES_OF_A_VALUE + 2 * value.length;
    }
  }
  return bytes;
}

import type { GroupContext } from '../query/search-result.ts';
import type { COUNTED_COLUMNS } from '../sql/group-statements.ts';
import { compareCodePoints } from './compare-code-points.ts';

type Counted = (typeof COUNTED_COLUMNS)[number];

/** What is known of one group, filled in piece by piece. */
export class GroupFacts {
  count = 0;
  firstSeen = 0;
  lastSeen = 0;
  readonly sparkline: number[];
  readonly #values: Record<Counted, Map<string, number>> = {
    country: new Map(),
    asn: new Map(),
    action: new Map(),
    feature: new Map(),
    ruleId: new Map(),
  };

  constructor(buckets: number) {
    this.sparkline = new Array<number>(buckets).fill(0);
  }

  setSpan(count: number, firstSeen: number, lastSeen: number): void {
    this.count = count;
    this.firstSeen = firstSeen;
    this.lastSeen = lastSeen;
  }

  addBucket(bucket: number, events: number): void {
    this.sparkline[bucket] = events;
  }

  /** `value` null: the events that lack the column, which the context says nothing of. */
  addValue(counted: Counted, value: string | null, events: number): void {
    if (value !== null) {
      this.#values[counted].set(value, events);
    }
  }

  context(): GroupContext {
    const { country, asn, action, feature, ruleId } = this.#values;
    return {
      country: mostFrequent(country),
      asn: mostFrequent(asn),
      blocked: action.get('blocked') ?? 0,
      challenged: action.get('challenged') ?? 0,
      logged: action.get('logged') ?? 0,
      features: distinct(feature),
      ruleIds: distinct(ruleId),
    };
  }
}

/** Of several equally frequent values the smaller by code point; the empty string if there is none. */
function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best: string | undefined;
  let most = 0;
  for (const [value, events] of counts) {
    if (best === undefined || events > most || (events === most && compareCodePoints(value, best) < 0)) {
      best = value;
      most = events;
    }
  }
  return best ?? '';
}

function distinct(counts: ReadonlyMap<string, number>): string {
  return [...counts.keys()].sort(compareCodePoints).join(',');
}

import type { GroupContext } from '../../../query/search-result.ts';
import { compareCodePoints } from '../runtime/compare-code-points.ts';

type Counts = Map<string, number>;

/**
 * What is known of one group, added up piece by piece. A value that is null is missing from the events, and the context says nothing of it.
 */
export class GroupFacts {
  count = 0;
  firstSeen = Number.POSITIVE_INFINITY;
  lastSeen = Number.NEGATIVE_INFINITY;
  readonly sparkline: number[];
  readonly #countries: Counts = new Map();
  readonly #asns: Counts = new Map();
  readonly #actions: Counts = new Map();
  readonly #features: Counts = new Map();
  readonly #ruleIds = new Set<string>();

  constructor(buckets: number) {
    this.sparkline = new Array<number>(buckets).fill(0);
  }

  addSpan(events: number, firstSeen: number, lastSeen: number): void {
    this.count += events;
    this.firstSeen = Math.min(this.firstSeen, firstSeen);
    this.lastSeen = Math.max(this.lastSeen, lastSeen);
  }

  addBucket(bucket: number, events: number): void {
    this.sparkline[bucket] = (this.sparkline[bucket] ?? 0) + events;
  }

  addOrigin(country: string | null, asn: string | null, events: number): void {
    add(this.#countries, country, events);
    add(this.#asns, asn, events);
  }

  addVerdict(action: string | null, feature: string | null, events: number): void {
    add(this.#actions, action, events);
    add(this.#features, feature, events);
  }

  addRules(ruleIds: Iterable<string>): void {
    for (const ruleId of ruleIds) {
      this.#ruleIds.add(ruleId);
    }
  }

  /** All that is known of another part of the group's events but its sparkline, which is another one's where the window is. */
  addAll(other: GroupFacts): void {
    this.addSpan(other.count, other.firstSeen, other.lastSeen);
    addEach(this.#countries, other.#countries);
    addEach(this.#asns, other.#asns);
    addEach(this.#actions, other.#actions);
    addEach(this.#features, other.#features);
    this.addRules(other.#ruleIds);
  }

  /** How many different values it has of everything, which is what it takes memory for. */
  get values(): number {
    return this.#countries.size + this.#asns.size + this.#actions.size + this.#features.size + this.#ruleIds.size;
  }

  context(): GroupContext {
    return {
      country: mostFrequent(this.#countries),
      asn: mostFrequent(this.#asns),
      blocked: this.#actions.get('blocked') ?? 0,
      challenged: this.#actions.get('challenged') ?? 0,
      logged: this.#actions.get('logged') ?? 0,
      features: distinct(this.#features.keys()),
      ruleIds: distinct(this.#ruleIds),
    };
  }
}

function add(counts: Counts, value: string | null, events: number): void {
  if (value !== null) {
    counts.set(value, (counts.get(value) ?? 0) + events);
  }
}

function addEach(counts: Counts, others: Counts): void {
  for (const [value, events] of others) {
    add(counts, value, events);
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

function distinct(values: Iterable<string>): string {
  return [...values].sort(compareCodePoints).join(',');
}

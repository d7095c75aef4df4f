import type { FeedStretch } from '../sql/feed-statements.ts';
import type { Bundle } from './bundle.ts';
import type { Segment } from './segment.ts';
import type { Snapshot } from './version-set.ts';

/** How much is read together at most: so many events, and so many bytes of them, but at least one event. */
export interface FeedBudget {
  readonly events: number;
  readonly bytes: number;
}

/** A bundle has few events of a small zone, and each bundle is a file to open. */
const MOST_BUNDLES = 64;

/** Sealed events that are read together. */
export interface SealedStretch extends FeedStretch {
  /** Roughly how many, and how long their texts are. */
  readonly events: number;
  readonly bytes: number;
}

type SealedParts = Pick<Snapshot, 'segments' | 'bundles'>;

/**
 * Returns the stretch of sealed events that a reader gets next: the bundles that fit into the budget, at least one.
 * Returns undefined where no event of the zones is sealed behind `after`. Sealed events come before all hot ones in the sequence.
 */
export function nextSealed(
  { segments, bundles }: SealedParts,
  zones: FeedStretch['zones'],
  after: bigint,
  budget: FeedBudget,
): SealedStretch | undefined {
  const chosen: Bundle[] = [];
  let [events, bytes] = [0, 0];
  const left = bundles.filter(({ maxSequence }) => maxSequence > after).sort((a, b) => (a.minSequence < b.minSequence ? -1 : 1));
  for (const bundle of left) {
    const within = { after, upTo: bundle.maxSequence };
    const expected = segments.reduce((sum, segment) => sum + eventsOf(segment, zones) * overlap(segment, bundle, within), 0);
    if (expected === 0) {
      continue;
    }
    const more = { events: Math.min(expected, bundle.rows), bytes: Math.min(expected / bundle.rows, 1) * bundle.textBytes };
    const fits = events + more.events <= budget.events && bytes + more.bytes <= budget.bytes && chosen.length < MOST_BUNDLES;
    if (chosen.length > 0 && !fits) {
      break;
    }
    chosen.push(bundle);
    events += more.events;
    bytes += more.bytes;
  }
  const last = chosen.at(-1);
  return last && { zones, after, upTo: last.maxSequence, events, bytes };
}

/** The parts that hold the sealed events of a stretch; undefined where there are none, or none any more. */
export function partsOf({ segments, bundles }: SealedParts, stretch: FeedStretch): SealedParts | undefined {
  const wanted = bundles
    .map((bundle) => ({
      bundle,
      segments: segments.filter((segment) => overlap(segment, bundle, stretch) > 0 && eventsOf(segment, stretch.zones) > 0),
    }))
    .filter((part) => part.segments.length > 0);
  return wanted.length === 0
    ? undefined
    : { bundles: wanted.map(({ bundle }) => bundle), segments: [...new Set(wanted.flatMap((part) => part.segments))] };
}

/** The share of a segment's sequences that a bundle has within a stretch. */
function overlap({ minSequence, maxSequence }: Segment, bundle: Bundle, { after, upTo }: Omit<FeedStretch, 'zones'>): number {
  const from = [minSequence, bundle.minSequence, after + 1n].reduce((highest, sequence) => (sequence > highest ? sequence : highest));
  const to = [maxSequence, bundle.maxSequence, upTo].reduce((lowest, sequence) => (sequence < lowest ? sequence : lowest));
  return to < from ? 0 : Number(to - from + 1n) / Number(maxSequence - minSequence + 1n);
}

function eventsOf({ rows, zoneRows }: Segment, zones: FeedStretch['zones']): number {
  return zones === 'all' ? rows : zones.reduce((sum, zone) => sum + (zoneRows.get(zone) ?? 0), 0);
}

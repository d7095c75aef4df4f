import { compareCodePoints, foldCase } from './fold-case.ts';
import type { OracleEvent } from './raw-event.ts';

export interface OracleGroup {
  readonly key: Readonly<Record<string, string>>;
  readonly count: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly context: Readonly<Record<string, string | number>>;
  readonly sparkline?: readonly number[];
}

export interface OracleGrouping {
  readonly by: readonly string[];
  readonly buckets: number;
  readonly from: number;
  readonly to: number;
}

/** What an event is grouped by: the text of a field, empty where the event has none, or the digits of its zone. */
export function dimensionOf({ zoneId, fields }: OracleEvent, name: string): string {
  return name === 'shieldZoneId' ? String(zoneId) : (fields[name] ?? '');
}

/** All groups in the order of the answer: count descending, then the key values ascending by code point. */
export function groupEvents(events: readonly OracleEvent[], grouping: OracleGrouping): OracleGroup[] {
  const members = Map.groupBy(events, (event) => JSON.stringify(grouping.by.map((field) => dimensionOf(event, field))));
  const groups = Array.from(members, ([key, inside]) => describeGroup(JSON.parse(key) as string[], inside, grouping));
  return groups.sort((a, b) => b.count - a.count || compareKeys(a, b, grouping.by));
}

function compareKeys(a: OracleGroup, b: OracleGroup, by: readonly string[]): number {
  for (const field of by) {
    const difference = compareCodePoints(a.key[field] ?? '', b.key[field] ?? '');
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

function describeGroup(key: readonly string[], events: readonly OracleEvent[], grouping: OracleGrouping): OracleGroup {
  const times = events.map(({ timestamp }) => timestamp);
  const actions = valuesOf(events, 'action').map(foldCase);
  const actionCount = (action: string) => actions.filter((other) => other === action).length;
  return {
    key: Object.fromEntries(grouping.by.map((field, index) => [field, key[index] ?? ''])),
    count: events.length,
    firstSeen: Math.min(...times),
    lastSeen: Math.max(...times),
    context: {
      country: mostFrequent(valuesOf(events, 'country')),
      asn: mostFrequent(valuesOf(events, 'asn')),
      blocked: actionCount('blocked'),
      challenged: actionCount('challenged'),
      logged: actionCount('logged'),
      features: distinct(valuesOf(events, 'feature')),
      ruleIds: distinct(valuesOf(events, 'ruleId')),
    },
    ...(grouping.buckets > 0 ? { sparkline: sparkline(times, grouping) } : {}),
  };
}

function valuesOf(events: readonly OracleEvent[], field: string): string[] {
  return events.map(({ fields }) => fields[field]).filter((value) => value !== undefined);
}

function mostFrequent(values: readonly string[]): string {
  const byValue = Array.from(Map.groupBy(values, (value) => value));
  byValue.sort(([a, as], [b, bs]) => bs.length - as.length || compareCodePoints(a, b));
  return byValue[0]?.[0] ?? '';
}

function distinct(values: readonly string[]): string {
  return [...new Set(values)].sort(compareCodePoints).join(',');
}

/** Event t is in bucket floor((t-from)*buckets/(to-from)), in integers. */
export function sparkline(times: readonly number[], { buckets, from, to }: Omit<OracleGrouping, 'by'>): number[] {
  const counts = new Array<number>(buckets).fill(0);
  for (const time of times) {
    const bucket = Number((BigInt(time - from) * BigInt(buckets)) / BigInt(to - from));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

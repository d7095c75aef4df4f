import type { CountedStretch } from './counted-stretches.ts';

/** What a rule would have made of the events that were counted. */
export interface RulePreview {
  /** Windows of groups with at least so many events. */
  readonly hits: number;
  /** Those in which they are told: hits of a group that are less than the quiet time apart are one. */
  readonly alerts: number;
  /** Whether no group that was not counted can have a hit. */
  readonly isWhole: boolean;
}

interface PreviewedRule {
  readonly atLeast: number;
  readonly windowMs: number;
  readonly quietMs: number;
}

/**
 * Finds the hits of windows, which begin every half of their length, and their alerts, as if events came in when they happened, evenly
 * within each half: an alert is resolved when the quiet time has passed since its last window, and what hits later does not prolong it.
 */
export function previewOf(stretches: readonly CountedStretch[], { atLeast, windowMs, quietMs }: PreviewedRule): RulePreview {
  const halfMs = windowMs / 2;
  /** By group, when its last alert is resolved. */
  const resolved = new Map<string, number>();
  let [hits, alerts] = [0, 0];
  for (const { from, groups } of stretches) {
    for (const { group, halves } of groups) {
      const key = JSON.stringify(group);
      for (const [nth, count] of windowTotals(halves).entries()) {
        if (count < atLeast) continue;
        hits += 1;
        const begin = from + nth * halfMs;
        const last = resolved.get(key) ?? Number.NEGATIVE_INFINITY;
        if (begin >= last) alerts += 1;
        if (begin >= last || hitTime(begin, halves, nth, atLeast, halfMs) < last) resolved.set(key, begin + windowMs + quietMs);
      }
    }
  }
  return { hits, alerts, isWhole: stretches.every(({ mostElsewhere }) => mostElsewhere < atLeast) };
}

/** The events of each window: of two halves. */
function windowTotals(halves: readonly number[]): readonly number[] {
  return halves.slice(1).map((count, nth) => count + (halves[nth] ?? 0));
}

/** When the window has so many events. */
function hitTime(begin: number, halves: readonly number[], nth: number, atLeast: number, halfMs: number): number {
  const [first = 0, second = 0] = halves.slice(nth, nth + 2);
  const [start, needed, of] = first >= atLeast ? [begin, atLeast, first] : [begin + halfMs, atLeast - first, second];
  return start + Math.floor(((needed - 1) * halfMs) / of);
}

/** The events of each window, of the group that has most in it, in the order of time. */
export function highestTotals(stretches: readonly CountedStretch[], halfMs: number): readonly number[] {
  return stretches.flatMap(({ from, to, groups }) => {
    const highest = Array<number>(Math.round((to - from) / halfMs) - 1).fill(0);
    for (const { halves } of groups) {
      for (const [nth, count] of windowTotals(halves).entries()) highest[nth] = Math.max(highest[nth] ?? 0, count);
    }
    return highest;
  });
}

import { demoEvent } from '../../../ingest/demo/demo-event.ts';
import { attackAt, type DemoAttack } from '../../../ingest/demo/demo-schedule.ts';
import { seededRandom } from '../../../ingest/demo/seeded-random.ts';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';

/** So many events of an attack show all zones and networks that it has. */
const SAMPLE = 300;

/** What the events of an attack say of themselves. */
export function tracesOf(attack: DemoAttack): { readonly zones: readonly number[]; readonly asns: readonly string[] } {
  const events = Array.from({ length: SAMPLE }, (_, index) => JSON.parse(demoEvent(`${index}`, 0, attack, seededRandom(1, index))));
  const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)].sort();
  return { zones: distinct(events.map(({ shieldZoneId }) => shieldZoneId)), asns: distinct(events.map(({ asn }) => asn)) };
}

/** The times of a window in which an attack runs, from its first second to its last. */
export function stretchesOf(attack: DemoAttack, { fromMs, toMs }: TimeWindow): TimeWindow[] {
  const stretches: TimeWindow[] = [];
  for (let ms = Math.ceil(fromMs / 1000) * 1000; ms < toMs; ms += 1000) {
    if (attackAt(ms / 1000) !== attack) continue;
    const last = stretches.at(-1);
    if (last?.toMs === ms) stretches[stretches.length - 1] = { ...last, toMs: ms + 1000 };
    else stretches.push({ fromMs: ms, toMs: ms + 1000 });
  }
  return stretches;
}

import { expect, test } from 'vitest';
import { startDemoFeed } from '../../../ingest/demo/demo-feed.ts';
import { DEMO_ATTACKS } from '../../../ingest/demo/demo-schedule.ts';
import { DIMENSIONS, type Dimension } from '../../../query/event-fields.ts';
import type { Selection } from '../../../query/plan/explore-plan.ts';
import type { TimeWindow, ZoneSelection } from '../../../query/plan/search-plan.ts';
import type { FacetValue } from '../../../query/plan/search-result.ts';
import { silentLogger } from '../../../store/event-store.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import type { TestStore } from '../../fixtures/test-store.ts';
import { HOUR, NOW } from '../event/raw-events.ts';
import { stretchesOf, tracesOf } from './attack-traces.ts';

const DAY: TimeWindow = { fromMs: NOW - 24 * HOUR, toMs: NOW };
const EVENTS_PER_DAY = 20_000;
const VALUES = 20;

async function dayOfDemo(): Promise<TestStore> {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const feed = startDemoFeed({ store, now: () => NOW, retentionMs: 24 * HOUR, logger: silentLogger, eventsPerDay: EVENTS_PER_DAY });
  await feed.filled;
  await feed.stop();
  return store;
}

interface Differences {
  readonly asns: readonly string[];
  /** The field and the value whose share of the selection exceeds its share of the rest most, networks aside. */
  readonly telling: { readonly field: Dimension; readonly value: string };
}

/** What an explorer sees who marks the selection and sorts each field by difference. */
async function differences(store: TestStore, zones: ZoneSelection, selection: Selection): Promise<Differences> {
  const search = { zones, window: DAY, where: { kind: 'everything' }, page: { index: 0, size: 0 }, output: { kind: 'rows' } } as const;
  const facets = DIMENSIONS.map((field) => ({ field, limit: VALUES, order: 'difference' }) as const);
  const answer = await store.explore({ search, histogram: null, facets, selection });
  const [inside, all] = [answer.selectedTotal ?? 0, answer.page.total];
  const differenceOf = ({ count, selected }: FacetValue) => (selected ?? 0) / inside - (count - (selected ?? 0)) / (all - inside);
  const valuesOf = (wanted: Dimension) => answer.facets?.find(({ field }) => field === wanted)?.values ?? [];
  const first = DIMENSIONS.filter((field) => field !== 'asn').flatMap((field) => valuesOf(field).map((value) => ({ field, ...value })));
  const [telling] = first.sort((a, b) => differenceOf(b) - differenceOf(a));
  if (telling === undefined) throw new Error(`nothing of zones ${zones} is selected`);
  return { asns: valuesOf('asn').map(({ value }) => value), telling };
}

const CASES = DEMO_ATTACKS.flatMap((attack) => {
  const { zones, asns } = tracesOf(attack);
  return [...zones.map((zone) => [zone]), 'all' as const].map((where) => ({ attack, zones: where, asns }));
});

test('whoever marks an attack of the demo sees its networks first, in each of its zones and in all', async () => {
  const store = await dayOfDemo();
  for (const { attack, zones, asns } of CASES) {
    const stretches = stretchesOf(attack, DAY);
    expect(stretches.length, attack).toBeGreaterThanOrEqual(2);
    for (const window of stretches) {
      const place = `${attack} in ${zones} from ${new Date(window.fromMs).toISOString()}`;
      const marked = await differences(store, zones, { window, where: { kind: 'everything' } });
      expect(marked.asns.slice(0, asns.length).sort(), place).toEqual(asns);
      // And so does whoever then goes on with what is most telling about that time.
      const { field, value } = marked.telling;
      const where = { kind: 'equals', column: field, values: [value], folded: false } as const;
      const chosen = await differences(store, zones, { window: DAY, where });
      expect(asns, `${place}, by ${field} ${value}`).toContain(chosen.asns[0]);
    }
  }
});

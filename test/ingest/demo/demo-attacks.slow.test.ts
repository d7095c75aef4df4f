import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO_EVENTS_PER_DAY, DEMO_SEED, eventsOfSecond } from '../../../ingest/demo/demo-feed.ts';
import { DemoDensity } from '../../../ingest/demo/demo-schedule.ts';
import { DEFAULT_STATE } from '../../../web/state/explorer-state.ts';
import { FACET_VALUES, questionOf } from '../../../web/state/question.ts';
import { type OracleEvent, oracleEvents } from '../../oracle/raw-event.ts';
import { searchOracle } from '../../oracle/search-oracle.ts';
import { HOUR, NOW } from '../event/raw-events.ts';

/** What the page asks for at first. */
const FIRST = questionOf(DEFAULT_STATE, NOW).body;
const HOURS = (FIRST.to - FIRST.from) / HOUR;

/** The networks of the attacks that the README promises. A person recognizes an attack by one of them. */
const NETWORKS = { scanner: ['64510'], 'credential stuffing': ['64520', '64521', '64522', '64523'], 'bot net': ['64530'] } as const;

const PROMISED = [
  [7, 'scanner'],
  [1, 'credential stuffing'],
  [1, 'bot net'],
  [2, 'bot net'],
] as const;

/** Hours after NOW at which somebody starts the demonstration for the first time; attacks come round every eight hours. */
const STARTS = [0, 5];

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
}

let events: ReadonlyMap<number, readonly OracleEvent[]>;

beforeAll(() => {
  const density = new DemoDensity(DEMO_EVENTS_PER_DAY);
  const wanted: ReadonlySet<number> = new Set(PROMISED.map(([zone]) => zone));
  const found: OracleEvent[] = [];
  const from = NOW - HOURS * HOUR;
  for (let second = from / 1000; second < (NOW + Math.max(...STARTS) * HOUR) / 1000; second++) {
    const raw = eventsOfSecond(second, density, DEMO_SEED).map((text) => ({ ...JSON.parse(text), log: {} }));
    found.push(...oracleEvents(raw).filter(({ zoneId }) => wanted.has(zoneId)));
  }
  events = Map.groupBy(found, ({ zoneId }) => zoneId);
});

describe.each(STARTS)('on the first page of a demonstration that is %d hours later', (hours) => {
  test.each(PROMISED)('zone %i shows a %s', (zone, attack) => {
    const to = NOW + hours * HOUR;
    const request = { from: to - HOURS * HOUR, to, groupBy: ['asn'], pageSize: FACET_VALUES };
    const { groups, total } = searchOracle(events.get(zone) ?? [], request, zone);
    const shown = groups?.map(({ key }) => key['asn']) ?? [];
    // It stands out; the visitors are not gone.
    expect(shown.filter((asn) => NETWORKS[attack].some((one) => one === asn))).not.toEqual([]);
    expect(total).toBeGreaterThan(NETWORKS[attack].length);
  });
});

test('the README promises these attacks', () => {
  expect(read('README.md').replaceAll('\n', ' ')).toContain(
    'Zone 7 has a scanner, zone 1 a wave of credential stuffing and a bot net, zone 2 another bot net.',
  );
});

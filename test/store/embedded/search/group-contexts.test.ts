import { expect, test } from 'vitest';
import type { GroupsOutput } from '../../../../query/plan/search-plan.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { groupEvents } from '../../../oracle/group-events.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, rowsPlan, ZONE } from '../stored-events.ts';

const FROM = NOW - 10 * HOUR;
const GROUPS: GroupsOutput = { kind: 'groups', by: ['action'], buckets: 4 };

/** A missing action and an empty one are of one group. */
const ACTIONS = [{ action: 'Blocked' }, { action: 'logged' }, { action: 'logged' }, { action: '' }, {}] as const;

const series = (prefix: string, count: number, fields: (index: number) => Partial<CanonicalEvent>): CanonicalEvent[] =>
  Array.from({ length: count }, (_, index) =>
    event(`${prefix}${index}`, NOW - HOUR - index * 100, { ...ACTIONS[index % ACTIONS.length], ...fields(index) }),
  );

/** Letters whose order by UTF-16 unit differs from that by code point. */
const letter = (index: number): string => ['a', '\u{1f600}', '\uffee', 'é', ''][index % 5] ?? '';

/** Events whose groups have these values, and fewer of the same kind. */
const KINDS: Readonly<Record<string, (count: number) => (index: number) => Partial<CanonicalEvent>>> = {
  'few values': () => (index) => ({ country: `c${index % 5}`, asn: String(index % 7), feature: `f${index % 3}`, ruleId: `r${index % 9}` }),
  'many values': () => (index) => ({
    country: `${letter(index)}c${index % 9_000}`,
    asn: String(index),
    feature: `${letter(index)}f${index}`,
    ruleId: `${letter(index)}r${index}`,
  }),
  'many pairs of few values': (count) => (index) => ({ country: `c${index % 173}`, asn: String(Math.floor((index * 173) / count) + 1) }),
  'long values': () => (index) => ({ country: `${index % 3}${'é'.repeat(600)}`, ruleId: `r${index % 4}` }),
  'long lists': () => (index) => ({ ruleId: `${letter(index)}${'r'.repeat(200)}${index % 150}` }),
  'values in some events only': () => (index) => (index % 4 === 0 ? { feature: `f${index}` } : {}),
};

/** The plain meaning of the groups. */
function expected(events: readonly CanonicalEvent[]) {
  const asked = { by: ['action'], buckets: 4, from: FROM, to: NOW };
  const oracleEvents = events.map(({ logId, timestamp, action, country, asn, feature, ruleId }) => {
    const fields = Object.entries({ action, country, asn, feature, ruleId });
    return { zoneId: ZONE, logId, timestamp, log: '{}', fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
  });
  return groupEvents(oracleEvents as unknown as Parameters<typeof groupEvents>[0], asked);
}

async function found(store: OpenStore) {
  const result = await store.search(rowsPlan({ window: { fromMs: FROM, toMs: NOW }, output: GROUPS }));
  return result.kind === 'groups' ? result.groups : [];
}

test.each(Object.entries(KINDS))(
  'contexts of groups with %s are right, unflushed, flushed, cached, and with events beside',
  async (_, fieldsOf) => {
    const store = await embeddedStoreIn(temporaryFolder());
    const [first, more] = [series('a', 27_000, fieldsOf(27_000)), series('b', 50, fieldsOf(27_000))];
    await store.append(canonicalBatch(first));
    expect(await found(store)).toEqual(expected(first));
    await store.flushNow();
    for (let time = 0; time < 3; time += 1) expect(await found(store)).toEqual(expected(first));
    await store.append(canonicalBatch(more));
    for (let time = 0; time < 2; time += 1) expect(await found(store)).toEqual(expected([...first, ...more]));
    const many = series('c', 27_000, KINDS['many values']?.(1) ?? (() => ({})));
    await store.append(canonicalBatch(many));
    expect(await found(store)).toEqual(expected([...first, ...more, ...many]));
  },
);

import { describe, expect, test } from 'vitest';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import type { AlertRule, RuleKind } from '../../alerts/rule.ts';
import { type FoldNews, type FoldState, RuleFold } from '../../alerts/rule-fold.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../query/durations.ts';
import { FoldModel } from './fold-model.ts';

const BEGIN = Date.UTC(2026, 4, 12, 12);
const RETENTION_MS = 3 * DAY_MS;
const SEEDS = 2_000;

function ruleWith(more: Partial<AlertRule> = {}): AlertRule {
  return {
    name: 'a-rule',
    zones: 'all',
    where: { kind: 'everything' },
    by: ['country'],
    kind: { kind: 'count', atLeast: 3 },
    windowMs: 10 * MINUTE_MS,
    quietMs: 30 * MINUTE_MS,
    hold: 1,
    lateMs: DAY_MS,
    maxGroups: 5_000,
    severity: 'medium',
    labels: {},
    receivers: [],
    ...more,
  };
}

/** An event at so many milliseconds after the begin, taken in at once, or so much later. */
function eventAt(ms: number, fields: CountedEvent['fields'] = {}, lateMs = 0): CountedEvent {
  return { zoneId: 7, timestamp: BEGIN + ms, ingestedAtMs: BEGIN + ms + lateMs, fields };
}

function shown(news: readonly FoldNews[]): string[] {
  return news.map((one) => {
    const { id, group, hits, toldAtMs, resolvedAtMs } = one.alert;
    if (one.kind === 'hit') return `hit ${one.windowMs} ${group[0]?.text ?? ''} of ${id}`;
    return one.kind === 'told' ? `told ${id} at ${toldAtMs}` : `resolved ${id} at ${resolvedAtMs} after ${hits}`;
  });
}

/** The kinds of news with the whole minutes after the begin at which they came, and of hits at which their window begins. */
function brief(news: readonly FoldNews[]): string[] {
  const minute = (ms: number | null) => Math.floor((Number(ms) - BEGIN) / MINUTE_MS);
  return news.map((one) => {
    if (one.kind === 'hit') return `hit ${minute(one.windowMs)}`;
    return one.kind === 'told' ? `told ${minute(one.alert.toldAtMs)}` : `resolved ${minute(one.alert.resolvedAtMs)}`;
  });
}

const foldOf = (rule: AlertRule, state?: FoldState) => new RuleFold(rule, { retentionMs: RETENTION_MS, ...(state && { state }) });

/** What comes of events, and of the time then passing to so many minutes after the begin. */
function newsOf(rule: AlertRule, events: readonly CountedEvent[], untilMinute = 0): readonly FoldNews[] {
  const fold = foldOf(rule);
  return [...events.flatMap((event) => fold.count(event)), ...fold.completeTo(BEGIN + untilMinute * MINUTE_MS)];
}

describe('windows', () => {
  test('begin every half of their length, so that events within half a window are always found', () => {
    for (let offset = 0; offset < 600_000; offset += 37_000) {
      const events = [0, 150_000, 299_999].map((ms) => eventAt(offset + ms));
      expect(newsOf(ruleWith(), events).filter(({ kind }) => kind === 'told')).toHaveLength(1);
    }
  });

  test('of an event are two, and one that has hit does not hit again', () => {
    const events = Array.from({ length: 9 }, (_, nth) => eventAt(nth));
    expect(brief(newsOf(ruleWith(), events))).toEqual(['hit -5', 'told 0', 'hit 0']);
  });

  test('take late events as long as they are open, and count what comes behind that as too late, once a window', () => {
    const rule = ruleWith({ lateMs: HOUR_MS });
    const first = [eventAt(0), eventAt(1)];
    const before = newsOf(rule, [...first, eventAt(2, {}, 65 * MINUTE_MS - 3)]);
    expect(before.map(({ kind }) => kind)).toContain('told');
    const fold = foldOf(rule);
    for (const event of [...first, eventAt(2, {}, 75 * MINUTE_MS)]) fold.count(event);
    expect([fold.state.tooLate, fold.state.alerts]).toEqual([2, []]);
  });

  test('that no event has opened are open to one that comes days late', () => {
    const fold = foldOf(ruleWith());
    fold.completeTo(BEGIN);
    const late = [0, 1, 2].map((ms) => eventAt(ms - 60 * HOUR_MS, {}, 60 * HOUR_MS));
    expect(late.flatMap((event) => fold.count(event)).filter(({ kind }) => kind === 'told')).toHaveLength(1);
  });

  test('that are closed are forgotten once no event of them can come', () => {
    const fold = foldOf(ruleWith({ lateMs: 0 }));
    fold.count(eventAt(0));
    fold.count(eventAt(4 * DAY_MS));
    fold.completeTo(BEGIN + 5 * DAY_MS);
    expect(fold.state.closed.map(({ fromMs }) => fromMs)).toEqual([BEGIN + 4 * DAY_MS - 5 * MINUTE_MS]);
  });
});

describe('alerts', () => {
  const burst = (minute: number) => [0, 1, 2].map((ms) => eventAt(minute * MINUTE_MS + ms));

  test('take hits that are less than quiet apart, and are resolved once', () => {
    // The windows of the first burst end at 10, those of the second are from 25 to 40, and those of the third begin at 80.
    const news = brief(newsOf(ruleWith(), [...burst(0), ...burst(30), ...burst(85)], 1_000));
    expect(news.filter((one) => !one.startsWith('hit'))).toEqual(['told 0', 'resolved 70', 'told 85', 'resolved 125']);
  });

  test.each([
    [39, 1],
    [45, 2],
  ])('of two bursts, the second in minute %i, are %i', (minute, expected) => {
    expect(newsOf(ruleWith(), [...burst(0), ...burst(minute)]).filter(({ kind }) => kind === 'told')).toHaveLength(expected);
  });

  test('are told at the hold-th hit, overlapping windows included, and resolved whether or not they were told', () => {
    expect(brief(newsOf(ruleWith({ hold: 3 }), [...burst(0), ...burst(5)], 100)).filter((one) => one.startsWith('told'))).toEqual([
      'told 5',
    ]);
    const untold = newsOf(ruleWith({ hold: 3 }), burst(0), 100).filter(({ kind }) => kind !== 'hit');
    expect(untold.map(({ kind, alert }) => [kind, alert.toldAtMs])).toEqual([['resolved', null]]);
  });

  test('that are resolved count hits that join them later, and nothing else changes', () => {
    const fold = foldOf(ruleWith());
    for (const event of burst(0)) fold.count(event);
    const [resolved] = fold.completeTo(BEGIN + 60 * MINUTE_MS);
    const late = [3, 4, 5].map((ms) => eventAt(10 * MINUTE_MS + ms, {}, 2 * HOUR_MS));
    const news = late.flatMap((event) => fold.count(event));
    expect(news.map(({ kind }) => kind)).toEqual(['hit', 'hit']);
    expect(fold.state.alerts).toEqual([{ ...resolved?.alert, hits: 4 }]);
  });

  test('of groups are apart, and an event without the field is of the group of the empty text', () => {
    const events = [0, 1, 2].flatMap((ms) => [eventAt(ms, { country: 'DE' }), eventAt(ms, {}), eventAt(ms, { country: '' })]);
    const groups = newsOf(ruleWith({ kind: { kind: 'count', atLeast: 3 } }), events).filter(({ kind }) => kind === 'told');
    expect(groups.map(({ alert }) => alert.group[0]?.text).sort()).toEqual(['', 'DE']);
  });

  test('are of the zones and the search of the rule alone', () => {
    const rule = ruleWith({ zones: [8], where: { kind: 'equals', column: 'action', values: ['blocked'], folded: true } });
    const of = (zoneId: number, action: string) => [0, 1, 2].map((ms) => ({ ...eventAt(ms, { action }), zoneId }));
    expect(newsOf(rule, [...of(7, 'blocked'), ...of(8, 'logged')])).toEqual([]);
    expect(newsOf(rule, of(8, 'Blocked')).length).toBeGreaterThan(0);
  });
});

test('distinct counts values, of which events without one have none and an empty text is one', () => {
  const rule = ruleWith({ kind: { kind: 'distinct', field: 'ip', atLeast: 3 }, by: [] });
  const ips = (...all: readonly (string | undefined)[]) => all.map((ip, ms) => eventAt(ms, ip === undefined ? {} : { ip }));
  expect(newsOf(rule, ips('a', 'b', 'a', undefined, undefined))).toEqual([]);
  expect(newsOf(rule, ips('a', 'b', 'a', '')).map(({ kind }) => kind)).toEqual(['hit', 'told', 'hit']);
  const fold = foldOf(rule);
  for (const event of ips('a', 'b', 'c', 'd')) fold.count(event);
  expect(fold.state.windows.map(({ entries }) => entries.map(({ values }) => values))).toEqual([[[]], [[]]]);
});

interface Drawn {
  readonly rule: AlertRule;
  readonly events: readonly CountedEvent[];
}

/** A rule and events of a seed: late up to the retention, out of order, the same again and again, with stops of hours between them. */
function drawnFrom(seed: number, more: Partial<AlertRule> = {}): Drawn {
  const random = new SeededRandom(seed);
  const pick = <T>(...all: readonly T[]): T => all[random.below(all.length)] as T;
  const atLeast = 1 + random.below(4);
  const kind: RuleKind = pick({ kind: 'count', atLeast }, { kind: 'distinct', field: 'ip', atLeast });
  const rule = ruleWith({
    kind,
    windowMs: pick(MINUTE_MS, 7 * SECOND_MS * 10, 10 * MINUTE_MS, 6 * HOUR_MS),
    quietMs: pick(MINUTE_MS, 30 * MINUTE_MS, DAY_MS),
    hold: 1 + random.below(3),
    lateMs: pick(0, HOUR_MS, DAY_MS),
    ...more,
  });
  let nowMs = BEGIN;
  const events = Array.from({ length: 20 + random.below(60) }, (): CountedEvent => {
    nowMs += pick(0, 0, random.below(5 * SECOND_MS), random.below(5 * SECOND_MS), random.below(20 * MINUTE_MS), random.below(9 * HOUR_MS));
    const delayMs = pick(
      0,
      random.below(3 * SECOND_MS),
      random.below(3 * SECOND_MS),
      random.below(2 * HOUR_MS),
      random.below(RETENTION_MS),
    );
    const ip = pick({}, { ip: '' }, { ip: 'a' }, { ip: 'b' }, { ip: 'c' }, { ip: 'd' });
    return {
      zoneId: 7,
      timestamp: nowMs - delayMs,
      ingestedAtMs: nowMs,
      fields: { ...ip, ...pick({}, { country: 'DE' }, { country: 'NL' }) },
    };
  });
  return { rule, events };
}

const END = BEGIN + 60 * DAY_MS;

interface Folded {
  readonly news: readonly FoldNews[];
  readonly state: FoldState;
}

/** All events as one page. */
function foldedAtOnce({ rule, events }: Drawn): Folded {
  const fold = foldOf(rule);
  const news = [...events.flatMap((event) => fold.count(event)), ...fold.completeTo(END)];
  return { news, state: fold.state };
}

/** The events in pages that are cut anywhere, behind each of which the fold may be stopped, and go on from what is kept of it. */
function foldedInPages({ rule, events }: Drawn, seed: number): Folded {
  const random = new SeededRandom(seed + 1_000_000);
  let fold = foldOf(rule);
  const news: FoldNews[] = [];
  for (const [index, event] of events.entries()) {
    news.push(...fold.count(event));
    const nextMs = events[index + 1]?.ingestedAtMs ?? END;
    if (random.below(3) === 0) news.push(...fold.completeTo(event.ingestedAtMs + random.below(nextMs - event.ingestedAtMs + 1)));
    if (random.below(4) === 0) fold = foldOf(rule, JSON.parse(JSON.stringify(fold.state)));
  }
  news.push(...fold.completeTo(END));
  return { news, state: fold.state };
}

/** The same events in another order, in which they come in at the same times. */
function shuffled({ rule, events }: Drawn, seed: number): Drawn {
  const random = new SeededRandom(seed + 2_000_000);
  const others = events.map((event) => ({ event, at: random.below(2 ** 30) })).sort((one, other) => one.at - other.at);
  return { rule, events: events.map(({ ingestedAtMs }, index) => ({ ...(others[index] as { event: CountedEvent }).event, ingestedAtMs })) };
}

const hitsOf = (news: readonly FoldNews[]): readonly string[] =>
  news.flatMap((one) => (one.kind === 'hit' ? [JSON.stringify([one.windowMs, one.alert.group])] : [])).toSorted();

/** The windows and groups of all events that meet the condition of the rule, as one GROUP BY has them. */
function groupedHits({ rule: { windowMs, kind }, events }: Drawn): readonly string[] {
  const stepMs = windowMs / 2;
  const groups = Map.groupBy(
    events.flatMap((event) => {
      const last = Math.floor(event.timestamp / stepMs) * stepMs;
      return [last - stepMs, last].map((window) => ({ event, key: JSON.stringify([window, [{ text: event.fields.country ?? '' }]]) }));
    }),
    ({ key }) => key,
  );
  const ipsOf = (all: readonly { readonly event: CountedEvent }[]) => new Set(all.flatMap(({ event }) => event.fields.ip ?? []));
  const isHit = (all: readonly { readonly event: CountedEvent }[]) =>
    (kind.kind === 'count' ? all.length : ipsOf(all).size) >= kind.atLeast;
  return [...groups]
    .filter(([, all]) => isHit(all))
    .map(([key]) => key)
    .toSorted();
}

test(`of ${SEEDS} sequences the same comes out as of the plain model, in whatever pages and with whatever stops they are read`, () => {
  let [inTime, inOtherOrder] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const drawn = drawnFrom(seed);
    const model = new FoldModel(drawn.rule);
    for (const event of drawn.events) model.count(event);
    model.advance(END);
    const folded = foldedAtOnce(drawn);
    expect(shown(folded.news), `seed ${seed}`).toEqual(model.news);
    expect(folded.state.tooLate, `seed ${seed}`).toBe(model.tooLate);
    const inPages = foldedInPages(drawn, seed);
    expect(inPages.news, `seed ${seed}`).toEqual(folded.news);
    expect(inPages.state, `seed ${seed}`).toEqual(folded.state);
    if (folded.state.tooLate > 0) continue;
    inTime += 1;
    expect(hitsOf(folded.news), `seed ${seed}`).toEqual(groupedHits(drawn));
    const other = shuffled(drawn, seed);
    // Of what is past the retention no event comes in.
    const isKept = other.events.every(({ timestamp, ingestedAtMs }) => ingestedAtMs - timestamp < RETENTION_MS);
    const { news, state } = foldedAtOnce(other);
    if (!isKept || state.tooLate > 0) continue;
    inOtherOrder += 1;
    expect(hitsOf(news), `seed ${seed}`).toEqual(hitsOf(folded.news));
  }
  expect([inTime > SEEDS / 20, inOtherOrder > SEEDS / 50]).toEqual([true, true]);
});

test(`where a rule has more groups than it may, ${SEEDS} sequences give no hit that is not one, in whatever pages they are read`, () => {
  let bounded = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const drawn = drawnFrom(seed, { maxGroups: 2 + (seed % 5) });
    const folded = foldedAtOnce(drawn);
    const inPages = foldedInPages(drawn, seed);
    expect(inPages.news, `seed ${seed}`).toEqual(folded.news);
    expect(inPages.state, `seed ${seed}`).toEqual(folded.state);
    const grouped = new Set(groupedHits(drawn));
    expect(
      hitsOf(folded.news).filter((hit) => !grouped.has(hit)),
      `seed ${seed}`,
    ).toEqual([]);
    bounded += folded.state.bounded > 0 ? 1 : 0;
  }
  expect(bounded).toBeGreaterThan(SEEDS / 2);
});

describe('a rule with more than it may have', () => {
  const entriesOf = ({ windows }: FoldState) => windows.map(({ beginMs, entries }) => [(beginMs - BEGIN) / MINUTE_MS, entries.length]);
  const of = (minute: number, ...countries: readonly string[]) =>
    countries.map((country, ms) => eventAt(minute * MINUTE_MS + ms, { country }));

  test('closes its oldest window first', () => {
    const fold = foldOf(ruleWith({ maxGroups: 4 }));
    for (const event of [...of(0, 'A', 'B'), ...of(5, 'A')]) fold.count(event);
    // Minute 5 is of the windows at 0, where the group is already, and at 5, for which the window at -5 closes.
    expect([entriesOf(fold.state), fold.state.bounded, fold.state.tooLate]).toEqual([
      [
        [0, 2],
        [5, 1],
      ],
      1,
      0,
    ]);
    fold.count(eventAt(-MINUTE_MS, { country: 'A' }, MINUTE_MS + 6 * MINUTE_MS));
    expect(fold.state.tooLate).toBe(1);
  });

  test('gives up the half with the lowest counts of its only window, and says of alerts from then on that they are bounded', () => {
    const fold = foldOf(ruleWith({ maxGroups: 4, kind: { kind: 'count', atLeast: 9 } }));
    for (const event of of(0, 'A', 'A', 'A', 'B', 'B', 'C', 'C', 'D', 'E')) fold.count(event);
    const left = fold.state.windows.at(-1)?.entries.map(({ group, count }) => [group[0]?.text, count]);
    expect(fold.state.windows).toHaveLength(1);
    expect(left).toEqual([
      ['A', 3],
      ['B', 2],
      ['E', 1],
    ]);
    const news = of(1, ...'EEEEEEEE').flatMap((event) => fold.count(event));
    expect(news.map(({ kind, alert }) => [kind, alert.isBounded])).toEqual([
      ['hit', true],
      ['told', true],
    ]);
  });

  test('without a by counts as many windows as there are', () => {
    const fold = foldOf(ruleWith({ maxGroups: 2, by: [] }));
    for (let minute = 0; minute < 60; minute += 1) fold.count(eventAt(minute * MINUTE_MS));
    expect([fold.state.bounded, fold.state.windows.length]).toEqual([0, 13]);
  });

  test('forgets its oldest resolved alerts, and without one resolves the oldest of all early', () => {
    const fold = new RuleFold(ruleWith({ kind: { kind: 'count', atLeast: 1 } }), { retentionMs: RETENTION_MS, maxAlerts: 2 });
    const news = of(0, 'A', 'B', 'C').flatMap((event) => fold.count(event));
    expect(news.filter(({ kind }) => kind === 'resolved').map(({ alert }) => alert.group[0]?.text)).toEqual(['A']);
    expect([fold.state.bounded, fold.state.alerts.map(({ group }) => group[0]?.text)]).toEqual([1, ['B', 'C']]);
    fold.completeTo(BEGIN + DAY_MS);
    fold.count(eventAt(25 * HOUR_MS, { country: 'D' }));
    expect([fold.state.bounded, fold.state.alerts.map(({ group }) => group[0]?.text)]).toEqual([1, ['C', 'D']]);
  });
});

import { describe, expect, test } from 'vitest';
import type { FoldNews } from '../../alerts/alert-book.ts';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { KeptFold, type KeptState, stateOf } from './kept-fold.ts';
import { BEGIN, brief, eventAt, RETENTION_MS, ruleWith } from './made-rules.ts';

const foldOf = (rule: AlertRule) => new RuleFold(rule, { retentionMs: RETENTION_MS });

const windowsIn = ({ rows }: KeptState) => rows.filter(({ group }) => group === '');
const groupsIn = ({ rows }: KeptState) => rows.filter(({ group, value }) => group !== '' && value === '');

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
    expect([fold.facts.tooLate, stateOf(fold).alerts]).toEqual([2, []]);
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
    expect(stateOf(fold).closed.map(({ fromMs }) => fromMs)).toEqual([BEGIN + 4 * DAY_MS - 5 * MINUTE_MS]);
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
    expect(stateOf(fold).alerts).toEqual([{ ...resolved?.alert, hits: 4 }]);
  });

  test('of groups are apart, and an event without the field is of the group of the empty text', () => {
    const events = [0, 1, 2].flatMap((ms) => [eventAt(ms, { country: 'DE' }), eventAt(ms, {}), eventAt(ms, { country: '' })]);
    const groups = newsOf(ruleWith({ kind: { kind: 'count', atLeast: 3 } }), events).filter(({ kind }) => kind === 'told');
    expect(groups.map(({ alert }) => alert.group[0]?.text).sort()).toEqual(['', 'DE']);
  });
});

test('distinct counts values, of which events without one have none and an empty text is one', () => {
  const rule = ruleWith({ kind: { kind: 'distinct', field: 'ip', atLeast: 3 }, by: [] });
  const ips = (...all: readonly (string | undefined)[]) => all.map((ip, ms) => eventAt(ms, ip === undefined ? {} : { ip }));
  expect(newsOf(rule, ips('a', 'b', 'a', undefined, undefined))).toEqual([]);
  expect(newsOf(rule, ips('a', 'b', 'a', '')).map(({ kind }) => kind)).toEqual(['hit', 'told', 'hit']);
  const fold = foldOf(rule);
  for (const event of ips('a', 'b', 'c', 'd')) fold.count(event);
  expect(stateOf(fold).rows.filter(({ value }) => value !== '')).toEqual([]);
});

test('a rule that begins anew with the alerts of before goes on with their numbers, and resolves them', () => {
  const events = [0, 1, 2].map((ms) => eventAt(ms));
  const before = foldOf(ruleWith());
  for (const event of events) before.count(event);
  const { alerts } = stateOf(before);
  const fold = new RuleFold(ruleWith(), { retentionMs: RETENTION_MS, alerts });
  const news = [...[0, 1, 2].flatMap((ms) => fold.count(eventAt(ms, { country: 'DE' }))), ...fold.completeTo(BEGIN + DAY_MS)];
  expect(news.filter(({ kind }) => kind === 'resolved').map(({ alert }) => [alert.nth, alert.group[0]?.text])).toEqual([
    [1, ''],
    [2, 'DE'],
  ]);
});

describe('silence', () => {
  const rule = ruleWith({ kind: { kind: 'silence', forMs: 15 * MINUTE_MS }, by: ['shieldZoneId'], windowMs: MINUTE_MS, zones: [7, 8] });
  const zone = (zoneId: number, lastMinute: number) => ({ zoneId, lastMs: BEGIN + lastMinute * MINUTE_MS });
  const looked = (fold: RuleFold, minute: number, ...zones: readonly ReturnType<typeof zone>[]) =>
    fold.lookAt(zones, BEGIN + minute * MINUTE_MS).map(({ kind, alert }) => `${kind} ${alert.group[0]?.text}`);

  test('of a zone is told once its last event is more than so long ago, and resolved when it was not found for quiet', () => {
    const fold = new RuleFold(rule, { retentionMs: RETENTION_MS, begunAtMs: BEGIN });
    expect(looked(fold, 15, zone(7, 0))).toEqual([]);
    expect(looked(fold, 16, zone(8, 16), zone(7, 0))).toEqual(['hit 7', 'told 7']);
    expect(looked(fold, 17, zone(7, 0))).toEqual(['hit 7']);
    expect(looked(fold, 30, zone(7, 29))).toEqual([]);
    expect(looked(fold, 48, zone(7, 47))).toEqual(['resolved 7']);
  });

  test('is of the zones of the rule alone, and not of one that was silent when the rule began', () => {
    const fold = new RuleFold(rule, { retentionMs: RETENTION_MS, begunAtMs: BEGIN });
    expect(looked(fold, 60, zone(9, 1), zone(8, -1), zone(7, 1))).toEqual(['hit 7', 'told 7']);
  });
});

describe('a rule with more than it may have', () => {
  const entriesOf = (state: KeptState) =>
    windowsIn(state).map((window) => [
      (window.windowMs - BEGIN) / MINUTE_MS,
      groupsIn(state).filter(({ windowMs }) => windowMs === window.windowMs).length,
    ]);
  const of = (minute: number, ...countries: readonly string[]) =>
    countries.map((country, ms) => eventAt(minute * MINUTE_MS + ms, { country }));

  test('closes its oldest window first', () => {
    const fold = foldOf(ruleWith({ maxGroups: 4 }));
    for (const event of [...of(0, 'A', 'B'), ...of(5, 'A')]) fold.count(event);
    // Minute 5 is of the windows at 0, where the group is already, and at 5, for which the window at -5 closes.
    expect([entriesOf(stateOf(fold)), fold.facts.bounded, fold.facts.tooLate]).toEqual([
      [
        [0, 2],
        [5, 1],
      ],
      1,
      0,
    ]);
    fold.count(eventAt(-MINUTE_MS, { country: 'A' }, MINUTE_MS + 6 * MINUTE_MS));
    expect(fold.facts.tooLate).toBe(1);
  });

  test('gives up the half with the lowest counts of its only window, and says of alerts from then on that they are bounded', () => {
    const fold = foldOf(ruleWith({ maxGroups: 4, kind: { kind: 'count', atLeast: 9 } }));
    for (const event of of(0, 'A', 'A', 'A', 'B', 'B', 'C', 'C', 'D', 'E')) fold.count(event);
    const state = stateOf(fold);
    const left = groupsIn(state).map(({ group, data }) => [JSON.parse(group)[0], (data as { count: number }).count]);
    expect(windowsIn(state)).toHaveLength(1);
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
    expect([fold.facts.bounded, windowsIn(stateOf(fold)).length]).toEqual([0, 13]);
  });

  test('forgets its oldest resolved alerts, and without one resolves the oldest of all early', () => {
    const fold = new RuleFold(ruleWith({ kind: { kind: 'count', atLeast: 1 } }), { retentionMs: RETENTION_MS, maxAlerts: 2 });
    const news = of(0, 'A', 'B', 'C').flatMap((event) => fold.count(event));
    expect(news.filter(({ kind }) => kind === 'resolved').map(({ alert }) => alert.group[0]?.text)).toEqual(['A']);
    const kept = new KeptFold();
    const countries = () => {
      kept.write(fold.takeChanges());
      return kept.state?.alerts.map(({ group }) => group[0]?.text);
    };
    expect([fold.facts.bounded, countries()]).toEqual([1, ['B', 'C']]);
    fold.completeTo(BEGIN + DAY_MS);
    fold.count(eventAt(25 * HOUR_MS, { country: 'D' }));
    expect([fold.facts.bounded, countries()]).toEqual([1, ['C', 'D']]);
  });
});

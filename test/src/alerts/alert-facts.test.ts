import { describe, expect, test } from 'vitest';
import type { AlertRule } from '../../../alerts/rule.ts';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import { compileConditions } from '../../../query/request/compile-search.ts';
import { MAX_PER_ANSWER } from '../../../query/search-limits.ts';
import { type LineSearch, parseSearchLine } from '../../../query/search-line.ts';
import { alertQuestions, explorerLink, FACTS_A_MINUTE, type FactsOf } from '../../../src/alerts/alert-facts.ts';
import { type EventStore, silentLogger } from '../../../store/event-store.ts';
import { readLink } from '../../../web/state/link.ts';
import { NOW } from '../../fixtures/present.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { sampleAlert } from './sample-alerts.ts';

const MINUTE = 60_000;
const FROM = NOW - 60 * MINUTE;
const TO = FROM + 10 * MINUTE;

function searchOf(line: string): LineSearch {
  const search = parseSearchLine(line);
  if ('fault' in search) throw new Error(search.fault);
  return search;
}

function ruleWith(search: string, by: AlertRule['by'], zones: AlertRule['zones'] = [7]) {
  const { query, filters, exclude } = searchOf(search);
  return { by, zones, search: searchOf(search), where: compileConditions(Buffer.from(JSON.stringify({ query, filters, exclude }))) };
}

interface SentEvent {
  readonly minute: number;
  readonly zone?: number;
  readonly fields: Readonly<Record<string, string>>;
}

/** A store with events at minutes after the begin of the alert. */
async function storeWith(...events: readonly SentEvent[]): Promise<EventStore> {
  const store = await storeIn(temporaryFolder());
  const lines = events.map(({ minute, zone = 7, fields }, nth) => {
    return JSON.stringify({ logId: `e${nth}`, shieldZoneId: zone, timestamp: FROM + minute * MINUTE, ...fields, log: {} });
  });
  async function* chunks() {
    yield Buffer.from(lines.join('\n'));
  }
  const report = await takeInEvents(chunks(), { store, source: 'http', now: () => NOW, retentionMs: RETENTION_MS });
  expect(report.accepted).toBe(events.length);
  return store;
}

function questionsOf(reads: Pick<EventStore, 'explore'>, now: () => number = () => NOW): FactsOf {
  return alertQuestions(reads, now, silentLogger);
}

/** The questions of a store, and how many were asked. */
function countingStore(store: EventStore): Pick<EventStore, 'explore'> & { readonly asked: () => number } {
  let asked = 0;
  const explore: EventStore['explore'] = (...question) => {
    asked += 1;
    return store.explore(...question);
  };
  return { explore, asked: () => asked };
}

const alertOf = (...group: readonly string[]) => sampleAlert(1, { group: group.map((text) => ({ text })), fromMs: FROM, toMs: TO });

describe('what the events of an alert have', () => {
  test('is counted among the events of its zones in its time and half an hour around', async () => {
    const store = await storeWith(
      ...[1, 2, 3, 4].map((minute) => ({
        minute,
        fields: { ip: '192.0.2.1', url: '/login', country: 'NL', action: 'blocked', ua: 'curl' },
      })),
      { minute: 5, fields: { ip: '192.0.2.1', url: '/login', country: 'NL', action: 'allowed', ua: 'curl' } },
      ...[-29, -20, 15, 39].map((minute) => ({
        minute,
        fields: { ip: '192.0.2.9', url: '/', country: 'NL', action: 'allowed', ua: 'Firefox' },
      })),
      // Other times and zones are not looked at.
      ...[-31, 41].map((minute) => ({ minute, fields: { ip: '192.0.2.9', url: '/away', country: 'DE' } })),
      { minute: 1, zone: 8, fields: { ip: '192.0.2.1', url: '/login', action: 'blocked' } },
    );
    const facts = await questionsOf(store)(ruleWith('action:blocked', ['ip']), alertOf('192.0.2.1'));
    expect(facts).toMatchObject({
      count: 4,
      times: { firstMs: FROM + MINUTE, lastMs: FROM + 4 * MINUTE },
      top: expect.arrayContaining([
        { field: 'url', value: '/login', count: 4, around: 5 },
        { field: 'country', value: 'NL', count: 4, around: 9 },
        { field: 'ua', value: 'curl', count: 4, around: 5 },
      ]),
    });
    const { different } = facts as Exclude<typeof facts, string>;
    expect(different.map(({ field, value }) => `${field} ${value}`).toSorted()).toEqual(['action blocked', 'ua curl', 'url /login']);
  });

  test.each([
    ['a value with other letters', ['country'], ['nl'], 0],
    ['a value', ['country'], ['NL'], 2],
    ['an empty value, which a missing one is, too', ['country'], [''], 2],
    ['two values', ['country', 'ip'], ['NL', '192.0.2.2'], 1],
    ['a zone', ['shieldZoneId'], ['8'], 1],
  ] as const)('is that of a group of %s', async (_what, by, values, count) => {
    const store = await storeWith(
      { minute: 1, fields: { country: 'NL', ip: '192.0.2.1' } },
      { minute: 2, fields: { country: 'NL', ip: '192.0.2.2' } },
      { minute: 3, fields: { country: '' } },
      { minute: 4, zone: 8, fields: {} },
    );
    expect(await questionsOf(store)(ruleWith('', by, 'all'), alertOf(...values))).toMatchObject({ count });
  });

  test.each([
    [
      'from the first to the last of all actions',
      [
        ['blocked', 2],
        ['allowed', 1],
        ['', 9],
        ['blocked', 4],
      ],
      [1, 9],
    ],
    ['one where there is one event', [['blocked', 3]], [3, 3]],
    [
      'without those before and behind the windows',
      [
        ['blocked', -1],
        ['blocked', 5],
        ['blocked', 10],
      ],
      [5, 5],
    ],
    ['none where there is no event', [['blocked', -1]], null],
  ] as const)('are at times %s', async (_what, events, minutes) => {
    const store = await storeWith(...events.map(([action, minute]) => ({ minute, fields: { action } })));
    const times = minutes && { firstMs: FROM + minutes[0] * MINUTE, lastMs: FROM + minutes[1] * MINUTE };
    expect(await questionsOf(store)(ruleWith('', []), alertOf())).toMatchObject({ times });
  });

  test('are at no time that is told where they have more actions than one answer lists', async () => {
    const actions = Array.from({ length: MAX_PER_ANSWER + 1 }, (_, nth) => ({ minute: 1, fields: { action: `action ${nth}` } }));
    const facts = await questionsOf(await storeWith(...actions))(ruleWith('', []), alertOf());
    expect(facts).toMatchObject({ count: MAX_PER_ANSWER + 1, times: null });
  });

  test('is not asked for of more than twenty alerts a minute, and of the same alert once', async () => {
    const store = await storeWith({ minute: 1, fields: {} });
    const { asked, ...reads } = countingStore(store);
    let nowMs = NOW;
    const factsOf = questionsOf(reads, () => nowMs);
    const ask = (nth: number) => factsOf(ruleWith('', []), sampleAlert(nth, { group: [], fromMs: FROM, toMs: TO }));
    for (let nth = 1; nth <= FACTS_A_MINUTE; nth += 1) expect(await ask(nth)).toMatchObject({ count: 1 });
    expect(await ask(FACTS_A_MINUTE + 1)).toBe('more than 20 alerts were asked about in a minute');
    expect([await ask(1), asked()]).toMatchObject([{ count: 1 }, 2 * FACTS_A_MINUTE]);
    nowMs += MINUTE;
    expect(await ask(FACTS_A_MINUTE + 1)).toMatchObject({ count: 1 });
  });

  test('is asked for once where messages are sent again for days, of the hundred alerts that were told last', async () => {
    const store = await storeWith({ minute: 1, fields: {} });
    const { asked, ...reads } = countingStore(store);
    let nowMs = NOW;
    const factsOf = questionsOf(reads, () => nowMs);
    /** How many alerts are asked about while messages of all of these are made. */
    const askedAbout = async (...nths: readonly number[]) => {
      const before = asked();
      for (const nth of nths) {
        nowMs += MINUTE;
        expect(await factsOf(ruleWith('', []), sampleAlert(nth, { group: [], fromMs: FROM, toMs: TO }))).toMatchObject({ count: 1 });
      }
      return (asked() - before) / 2;
    };
    const first = Array.from({ length: 100 }, (_, nth) => nth + 1);
    expect([await askedAbout(...first), await askedAbout(...first)]).toEqual([100, 0]);
    // One that is sent again stays, and the one that was sent longest ago goes.
    expect([await askedAbout(1, 101), await askedAbout(1, 3), await askedAbout(2)]).toEqual([1, 0, 1]);
  });

  test('is kept without a question of the minute, and asked for again where it was not found out', async () => {
    const store = await storeWith({ minute: 1, fields: {} });
    let [isAway, nowMs] = [false, NOW];
    const explore: EventStore['explore'] = (...question) => (isAway ? Promise.reject(new Error('away')) : store.explore(...question));
    const factsOf = questionsOf({ explore }, () => nowMs);
    const ask = (nth: number) => factsOf(ruleWith('', []), sampleAlert(nth, { group: [], fromMs: FROM, toMs: TO }));
    expect(await ask(1)).toMatchObject({ count: 1 });
    nowMs += MINUTE;
    isAway = true;
    for (let nth = 2; nth <= FACTS_A_MINUTE + 1; nth += 1) expect(await ask(nth)).toBe('the search failed');
    expect(await ask(1)).toMatchObject({ count: 1 });
    isAway = false;
    expect(await ask(2)).toBe('the search failed');
    nowMs += MINUTE;
    expect(await ask(2)).toMatchObject({ count: 1 });
  });

  test('is missing where a value is kept in part, where the search takes too long, and where it fails', async () => {
    const store = await storeWith({ minute: 1, fields: {} });
    const cut = sampleAlert(1, { group: [{ text: 'a', sha256: 'b' }] });
    expect(await questionsOf(store)(ruleWith('', ['ua']), cut)).toBe('a value of its group is too long to be searched');
    const late: EventStore['explore'] = (_plan, { signal } = {}) => {
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    expect(await questionsOf({ explore: late })(ruleWith('', []), alertOf())).toBe('the search took too long');
    await store.close();
    expect(await questionsOf(store)(ruleWith('', []), alertOf())).toBe('the search failed');
  });
});

test.each([
  ['url:~login', ['ip'], ['192.0.2.1'], [7], 'url:~login ip:192.0.2.1', [7]],
  ['', ['shieldZoneId', 'ua'], ['8', 'a "b", *c*'], 'all', 'ua:"a \\"b\\", *c*"', [8]],
  ['', [], [], [7, 9], '', [7, 9]],
  ['-country:NL', ['country'], [''], 'all', '-country:NL', 'all'],
] as const)('a link with the search %j and the group %j %j of the zones %j shows its events', (search, by, values, zones, line, shown) => {
  const alert = alertOf(...values);
  const link = explorerLink('https://waf.example/sub', ruleWith(search, by, zones), alert);
  expect(link).toMatch(/^https:\/\/waf\.example\/sub\/\?[!-~]*$/);
  const { state, ignored } = readLink(new URL(link).search);
  expect(ignored).toEqual([]);
  expect(state).toMatchObject({ zones: shown, range: { kind: 'between', from: FROM, to: TO }, search: searchOf(line) });
});

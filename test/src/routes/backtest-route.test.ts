import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BACKTEST_LIMITS, type BacktestLine, RULE_BYTES } from '../../../src/alerts/backtest.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A time that is long past for windows of minutes, and is the begin of one. */
const PAST = Math.floor(Date.now() / HOUR) * HOUR - 12 * HOUR;

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

const COUNT = { name: 'logins', zones: [7], by: 'ip', kind: 'count', at_least: 3, window: '10m', search: 'action:blocked' };

/** A rule as JSON is one as YAML. */
const testRule = (rule: object, query = '', headers: Readonly<Record<string, string>> = {}, at: Pick<RunningApp, 'url'> = app) =>
  ask(at, `/alerts/test${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml', ...headers },
    body: JSON.stringify({ ...COUNT, ...rule }),
  });

async function linesOf(rule: object, query = ''): Promise<readonly BacktestLine[]> {
  const { status, headers, text } = await testRule(rule, query);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const alertsOf = (lines: readonly BacktestLine[]) => lines.flatMap((line) => (line.kind === 'alert' ? [line.alert] : []));

/** Takes in blocked events of an address at a time. */
async function takeIn(timeMs: number, count: number, more: object = {}): Promise<void> {
  const lines = Array.from({ length: count }, (_, nth) =>
    eventLine({ logId: `${timeMs}-${nth}`, timestamp: timeMs, ip: '192.0.2.1', action: 'blocked', log: {}, ...more }),
  );
  expect((await ingest(app, lines.join(''))).status).toBe(202);
}

describe('a backtest', () => {
  test('tells the alerts that a rule would have made of the stored events, and at its end what quiet held back', async () => {
    await takeIn(PAST, 3);
    await takeIn(PAST + 20 * MINUTE, 3);
    await takeIn(PAST + 20 * MINUTE + 1, 3, { action: 'logged' });
    await takeIn(PAST + 3 * HOUR, 4);
    const lines = await linesOf({});
    const times = [PAST - 5 * MINUTE, PAST + 3 * HOUR - 5 * MINUTE].map((ms) => new Date(ms).toISOString());
    expect(alertsOf(lines).map(({ state, group, hits, from }) => [state, group, hits, from])).toEqual([
      ['told', { ip: '192.0.2.1' }, 1, times[0]],
      ['told', { ip: '192.0.2.1' }, 1, times[1]],
    ]);
    expect(lines.at(-1)).toMatchObject({
      ...{ kind: 'summary', rule: 'logins', counted: 10, hits: 6, told: 2, heldBack: 4 },
      ...{ tooLate: 0, bounded: 0, unreadable: 0 },
    });
  });

  test('is of all that is kept, or of what came in since the time that it is told, and within a window before', async () => {
    await takeIn(PAST, 3);
    const countedFrom = async (query: string) => (await linesOf({}, query)).at(-1);
    expect(await countedFrom('')).toMatchObject({ counted: 3, hits: 2 });
    expect(await countedFrom(`?from=${Date.now() + MINUTE}`)).toMatchObject({ counted: 3, hits: 2 });
    expect(await countedFrom(`?from=${Date.now() + HOUR}`)).toMatchObject({ counted: 0, hits: 0 });
  });

  test('of a rule that compares with before reads it back, and makes no hit of that', async () => {
    const rule = { kind: 'new_value', field: 'ip', for: '24h', at_least: undefined, window: undefined, by: undefined };
    await takeIn(PAST, 1);
    const from = Date.now() + 1;
    await expect.poll(() => Date.now()).toBeGreaterThan(from);
    await takeIn(PAST + HOUR, 1);
    await takeIn(PAST + 2 * HOUR, 1, { ip: '192.0.2.2' });
    expect(alertsOf(await linesOf(rule)).map(({ group }) => group['ip'])).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(alertsOf(await linesOf(rule, `?from=${from}`)).map(({ group }) => group)).toEqual([{ shieldZoneId: '7', ip: '192.0.2.2' }]);
  });

  test('gives up the oldest window where it has more than it may, and says so', async () => {
    const counts = BACKTEST_LIMITS.entries / 2 + 1;
    expect([BACKTEST_LIMITS.bytes, BACKTEST_LIMITS.maxAlerts]).toEqual([16 * 1024 * 1024, 10_000]);
    const lines = Array.from({ length: counts }, (_, nth) =>
      eventLine({ logId: `e${nth}`, timestamp: PAST, ip: `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`, action: 'blocked', log: {} }),
    );
    expect((await ingest(app, lines.join(''))).status).toBe(202);
    const last = (await linesOf({ max_groups: 500_000 })).at(-1);
    expect(last?.kind === 'summary' && last.bounded).toBeGreaterThan(0);
  });

  test.each<[string, object, string]>([
    ['is wrong', { at_least: 0 }, 'at_least is "0"; allowed: a whole number 1..1000000000'],
    [
      'goes by the clock',
      { kind: 'silence', for: '15m', at_least: undefined, window: undefined, by: undefined, search: undefined },
      'kind: must be another one than silence, of which the clock decides: it has no backtest',
    ],
  ])('of a rule that %s is refused', async (_what, rule, expected) => {
    const { status, body } = await testRule(rule);
    expect([status, body.errorKey]).toEqual([400, 'request.invalid']);
    expect(body.detail).toContain(expected);
  });

  test.each([
    ['?from=-1', 'from: must be a whole number 0..9007199254740991, not "-1"'],
    ['?last=1h', 'last: is not a query parameter of this path; allowed are from'],
  ])('with %s is refused', async (query, detail) => {
    const { status, body } = await testRule({}, query);
    expect([status, body.detail]).toEqual([400, detail]);
  });

  test('of a longer rule than may be is refused', async () => {
    const { length } = JSON.stringify({ ...COUNT, labels: { a: '' } });
    const ruleOf = (bytes: number) => ({ labels: { a: 'x'.repeat(bytes - length) } });
    expect((await testRule(ruleOf(RULE_BYTES))).status).toBe(200);
    expect((await testRule(ruleOf(RULE_BYTES + 1))).body).toMatchObject({ status: 413, errorKey: 'body.too_large' });
  });

  test('runs alone: a second one is refused until the first has ended', async () => {
    const { store } = app;
    const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const readFeed = store.readFeed.bind(store);
    store.readFeed = async (request, options) => {
      began.resolve();
      await end.promise;
      return await readFeed(request, options);
    };
    const first = testRule({});
    await began.promise;
    expect((await testRule({})).body).toMatchObject({ status: 409, errorKey: 'backtest.refused' });
    end.resolve();
    expect((await first).text).toContain('"summary"');
    expect((await testRule({})).status).toBe(200);
  });
});

test('a rule is tried with a key that opens all of its zones', async () => {
  const keys = 'one:key-of-zone-7-alone:7:read,all:key-of-all-zones-here:*:read,none:key-without-reading:*:manage';
  const keyed = await startApp({ env: { HOST: '0.0.0.0', ACCESS_KEYS: keys } });
  const statusOf = async (rule: object, accesskey: string) => (await testRule(rule, '', { accesskey }, keyed)).status;
  try {
    expect(await statusOf({}, 'key-of-zone-7-alone')).toBe(200);
    expect(await statusOf({ zones: [7, 8] }, 'key-of-zone-7-alone')).toBe(403);
    expect(await statusOf({ zones: 'all' }, 'key-of-zone-7-alone')).toBe(403);
    expect(await statusOf({ zones: 'all' }, 'key-of-all-zones-here')).toBe(200);
    expect(await statusOf({}, 'key-without-reading')).toBe(403);
  } finally {
    await keyed.stop();
  }
});

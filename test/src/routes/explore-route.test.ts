import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

const [OF_TWO, OF_ALL, OF_NONE] = ['key-of-two-zones-0123456789', 'key-of-all-zones-0123456789', 'key-of-no-reader-0123456789'];
/** Past 2^53: a number that JavaScript cannot hold. */
const DIGITS = '9007199254740993123';
const MINUTE = 60_000;
const DAY = 86_400_000;

let app: RunningApp;
/** The window of every question, twelve minutes that are over. */
let from: number;
let to: number;

beforeAll(async () => {
  app = await startApp({ env: { HOST: '0.0.0.0', ACCESS_KEYS: `two:${OF_TWO}:7+8,all:${OF_ALL}:*,ingest:${OF_NONE}:*:ingest` } });
  to = Date.now() - MINUTE;
  from = to - 12 * MINUTE;
  const at = (minute: number, rest: object): string => eventLine({ timestamp: from + minute * MINUTE, ...rest });
  const lines = [
    at(0, { logId: 'a', country: 'DE', action: 'logged', ruleId: '942100', ruleName: 'SQL injection' }),
    at(1, { logId: 'b', country: 'DE', action: 'blocked', ip: '192.0.2.1', ruleId: '942100' }),
    at(5, { logId: 'c', country: 'CH', action: 'blocked', ip: '192.0.2.1', log: 1 }).replace('"log":1', `"log":{"big":${DIGITS}}`),
    at(11, { logId: 'd', country: 'CH', action: 'blocked', shieldZoneId: 8, ruleId: '900' }),
    at(11, { logId: 'd', shieldZoneId: 9, country: 'FR' }),
    at(12, { logId: 'late', country: 'FR' }),
    at(-1, { logId: 'early', country: 'FR' }),
  ];
  expect((await ingest(app, lines.join(''), { accesskey: OF_ALL })).body.accepted).toBe(lines.length);
});

afterAll(() => app.stop());

interface Asked {
  readonly zones?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks about the window; the header values replace the usual ones. */
async function explore(rest: object, { zones = 'all', headers = {} }: Asked = {}): Promise<Answer> {
  return ask(app, `/shield/event-logs/${zones}/explore`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accesskey: OF_ALL, ...headers },
    body: JSON.stringify({ from, to, ...rest }),
  });
}

async function activeZones(query: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return ask(app, `/shield/event-logs/zones${query}`, { headers: { accesskey: OF_ALL, ...headers } });
}

const window = (): string => `?from=${from}&to=${to}`;

describe('a question of the explorer', () => {
  test('answers rows that say their zone, and null for what was not asked', async () => {
    const { status, headers, body, text } = await explore({ pageSize: 2, page: 1 });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toMatchObject({ groups: null, total: 5, totalPages: 3, page: 1, histogram: null, facets: null, selectedTotal: null });
    expect(body.errorResponse).toEqual({ statusCode: 200, success: true, message: null, errorKey: null });
    expect(body.rows.map((row: object) => Object.keys(row))).toEqual(
      Array(2).fill(['logId', 'timestamp', 'log', 'fields', 'shieldZoneId']),
    );
    expect(text).toContain(`"log":{"big":${DIGITS}},"fields":{"ip":"192.0.2.1","country":"CH","action":"blocked"},"shieldZoneId":7`);
  });

  test('orders rows of the same time and id by their zone', async () => {
    const { body } = await explore({ pageSize: 2 });
    expect(body.rows.map(({ logId, shieldZoneId }: { logId: string; shieldZoneId: number }) => [logId, shieldZoneId])).toEqual([
      ['d', 8],
      ['d', 9],
    ]);
  });

  test('answers no rows and no groups for a pageSize of 0, but how many there are', async () => {
    const empty = { rows: null, groups: null, totalPages: 0 };
    expect((await explore({ pageSize: 0, page: 4 })).body).toMatchObject({ ...empty, total: 5, page: 4 });
    expect((await explore({ pageSize: 0, groupBy: ['country', 'shieldZoneId'] })).body).toMatchObject({ ...empty, total: 4 });
    expect((await explore({ pageSize: -1 })).body).toMatchObject({ rows: [{ logId: 'd' }], total: 5, totalPages: 5 });
  });

  test('groups by zone beside the fields', async () => {
    const { body } = await explore({ groupBy: ['shieldZoneId', 'country'], buckets: 2, pageSize: 1 });
    expect(body).toMatchObject({ rows: null, total: 4, totalPages: 4 });
    expect(body.groups).toMatchObject([{ key: { shieldZoneId: '7', country: 'DE' }, count: 2, sparkline: [2, 0] }]);
  });

  test('answers a histogram in the order of its greatest series', async () => {
    expect((await explore({ pageSize: 0, histogram: { buckets: 4, by: 'action' } })).body.histogram).toEqual({
      from,
      to,
      buckets: 4,
      series: [
        { value: 'blocked', total: 3, counts: [1, 1, 0, 1] },
        { value: '', total: 1, counts: [0, 0, 0, 1] },
        { value: 'logged', total: 1, counts: [1, 0, 0, 0] },
      ],
      other: null,
    });
    const whole = { from, to, buckets: 1, series: [{ value: null, total: 5, counts: [5] }], other: null };
    expect((await explore({ histogram: { buckets: 1 } })).body.histogram).toEqual(whole);
  });

  test('answers a histogram whose buckets begin at multiples of a width', async () => {
    const { histogram } = (await explore({ pageSize: 0, histogram: { width: DAY } })).body;
    const [first, end] = [Math.floor(from / DAY) * DAY, Math.ceil(to / DAY) * DAY];
    expect(histogram).toMatchObject({ from: first, to: end, buckets: (end - first) / DAY, series: [{ value: null, total: 5 }] });
  });

  test('answers facets, and what of each value is in the selection', async () => {
    const facets = [{ field: 'shieldZoneId' }, { field: 'country', limit: 2, order: 'difference' }];
    const { body } = await explore({
      facets,
      selection: { from: from + 5 * MINUTE, exclude: [{ field: 'country', op: 'eq', value: ['FR'] }] },
    });
    expect([body.selectedTotal, body.facets]).toEqual([
      2,
      [
        {
          field: 'shieldZoneId',
          distinct: 3,
          values: [
            { value: '7', count: 3, selected: 1, spellings: 1 },
            { value: '8', count: 1, selected: 1, spellings: 1 },
            { value: '9', count: 1, selected: 0, spellings: 1 },
          ],
        },
        {
          field: 'country',
          distinct: 3,
          values: [
            { value: 'CH', count: 2, selected: 2, spellings: 1 },
            { value: 'FR', count: 1, selected: 0, spellings: 1 },
          ],
        },
      ],
    ]);
  });

  test('has nothing in a selection that lies outside the window', async () => {
    const { body } = await explore({ facets: [{ field: 'action', limit: 1 }], selection: { from: to, to: to + 1 } });
    expect([body.selectedTotal, body.facets[0].values]).toEqual([0, [{ value: 'blocked', count: 3, selected: 0, spellings: 1 }]]);
  });

  test.each([
    ['7', OF_TWO, 3],
    ['8,7,8', OF_TWO, 4],
    ['all', OF_TWO, 4],
    ['all', OF_ALL, 5],
    ['1', OF_ALL, 0],
  ])('about the zones %s with the key %s is about %i events', async (zones, accesskey, total) => {
    expect((await explore({ pageSize: 0 }, { zones, headers: { accesskey } })).body.total).toBe(total);
  });

  test.each(['text/plain', 'text/json'])('is answered as %s where that is accepted', async (accept) => {
    const { headers, body } = await explore({ pageSize: 0 }, { headers: { accept } });
    expect([headers.get('content-type'), body.total]).toEqual([`${accept}; charset=utf-8`, 5]);
  });

  test.each([
    [{ histogram: { buckets: 0 } }, {}, 400, 'request.invalid', 'histogram.buckets: must be an integer from 1 to 500, not 0'],
    [{ limit: 5 }, {}, 400, 'request.invalid', /^limit: is not a property of this object; allowed are from, to, query, /],
    [{}, { zones: '7,x' }, 400, 'request.invalid', /^shieldZoneId: "x" is not a whole number .* or all$/],
    [{}, { zones: '7,9', headers: { accesskey: OF_TWO } }, 403, 'access.zone_denied', 'The access key does not open shield zone 9'],
    [{}, { headers: { accesskey: OF_NONE } }, 403, 'access.scope_denied', 'The access key does not have the scope "read"'],
    [{}, { headers: { accesskey: 'nobody' } }, 401, 'access.key_unknown', 'The AccessKey header holds no key of this program'],
    [{}, { headers: { accept: 'text/html' } }, 406, 'accept.none', /^Accept: text\/html takes none of application\/json/],
    [{}, { headers: { 'content-type': 'text/csv' } }, 415, 'body.unsupported_type', /^Content-Type: text\/csv is not supported/],
    [{}, { headers: { 'content-encoding': 'gzip' } }, 415, 'body.unsupported_type', /^Content-Encoding: gzip is not supported/],
  ] as const)('is refused with %j %j: %i %s', async (rest, asked, status, errorKey, detail) => {
    const answer = await explore(rest, asked);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8']);
    const words = typeof detail === 'string' ? detail : expect.stringMatching(detail);
    expect(answer.body).toMatchObject({ status, errorKey, detail: words });
  });

  test('is refused where it is longer than a search may be', async () => {
    expect((await explore({ query: 'x'.repeat(1024 * 1024) })).body).toMatchObject({ status: 413, errorKey: 'body.too_large' });
  });
});

describe('the zones that have events', () => {
  test('come with their events in the window, the one with the most first', async () => {
    const { status, headers, text } = await activeZones(window());
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(JSON.parse(text)).toEqual({
      zones: [
        { shieldZoneId: 7, count: 3, last: from + 5 * MINUTE },
        { shieldZoneId: 8, count: 1, last: from + 11 * MINUTE },
        { shieldZoneId: 9, count: 1, last: from + 11 * MINUTE },
      ],
    });
  });

  test('are only those that the key opens', async () => {
    const { body } = await activeZones(window(), { accesskey: OF_TWO });
    expect(body.zones.map(({ shieldZoneId }: { shieldZoneId: number }) => shieldZoneId)).toEqual([7, 8]);
  });

  test('are none where the window has no events', async () => {
    expect((await activeZones(`?from=${from - 3 * MINUTE}&to=${from - 2 * MINUTE}`)).body).toEqual({ zones: [] });
  });

  test.each([
    ['', ['from', 'is required: Unix milliseconds, UTC'], ['to', 'is required: Unix milliseconds, UTC']],
    ['?from=1.5&to=', ['from', 'must be a whole number 0..9007199254740991, not "1.5"'], ['to', /not ""$/]],
    [
      '?from=5&to=5',
      ['from', /^must be at least \d+ \(72 hours and 60 seconds ago\), not 5$/],
      ['to', 'must be greater than from (5), not 5'],
    ],
    ['?from=0&to=9007199254740991&zone=7', ['zone', 'is not a query parameter of this path; allowed are from, to']],
  ])('are refused for %j', async (query, ...expected) => {
    const { status, body } = await activeZones(query);
    expect([status, body.errorKey]).toEqual([400, 'request.invalid']);
    expect(body.errors).toEqual(
      expected.map(([field, message]) => ({
        field,
        message: typeof message === 'string' ? message : expect.stringMatching(message as RegExp),
      })),
    );
  });

  test.each([
    [{ accesskey: OF_NONE }, 403, 'access.scope_denied'],
    [{ accesskey: 'nobody' }, 401, 'access.key_unknown'],
    [{ accept: 'text/html' }, 406, 'accept.none'],
  ])('are refused with the headers %j: %i %s', async (headers, status, errorKey) => {
    expect((await activeZones(window(), headers as Readonly<Record<string, string>>)).body).toMatchObject({ status, errorKey });
  });
});

describe('the rules that have events', () => {
  const activeRules = (zones: string, query = window(), headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask(app, `/shield/event-logs/${zones}/rules${query}`, { headers: { accesskey: OF_ALL, ...headers } });

  test('come with their names, the one with the most events first', async () => {
    const { status, headers, text } = await activeRules('all');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(JSON.parse(text)).toEqual({
      rules: [
        { ruleId: '942100', ruleName: 'SQL injection', count: 2 },
        { ruleId: '900', ruleName: '', count: 1 },
      ],
    });
    expect((await activeRules('8,9', window(), { accesskey: OF_ALL })).body.rules).toHaveLength(1);
    expect((await activeRules('9')).body).toEqual({ rules: [] });
  });

  test('are those of the zones that the key opens', async () => {
    expect((await activeRules('all', window(), { accesskey: OF_TWO })).body.rules).toHaveLength(2);
    expect((await activeRules('9', window(), { accesskey: OF_TWO })).body).toMatchObject({ status: 403, errorKey: 'access.zone_denied' });
  });

  test.each([
    ['x', '', {}, 400, 'request.invalid', /^shieldZoneId: "x" is not a whole number/],
    ['7', '', {}, 400, 'request.invalid', /^from: is required/],
    ['7', '?from=5&to=4', {}, 400, 'request.invalid', /^from: must be at least/],
    ['7', '?from=5&to=6&limit=3', {}, 400, 'request.invalid', /limit: is not a query parameter of this path; allowed are from, to$/],
    ['7', undefined, { accesskey: OF_NONE }, 403, 'access.scope_denied', /read/],
    ['7', undefined, { accesskey: 'nobody' }, 401, 'access.key_unknown', /./],
    ['7', undefined, { accept: 'text/html' }, 406, 'accept.none', /./],
  ])('of %s%s are refused with the headers %j: %i %s', async (zones, query, headers, status, errorKey, detail) => {
    const { body } = await activeRules(zones, query, headers as Readonly<Record<string, string>>);
    expect(body).toMatchObject({ status, errorKey, detail: expect.stringMatching(detail) });
  });
});

test('all three are counted among the searches', async () => {
  await explore({});
  await ask(app, `/shield/event-logs/all/rules${window()}`, { headers: { accesskey: OF_ALL } });
  await activeZones(window());
  const { text } = await ask(app, '/metrics', { headers: { accesskey: OF_ALL } });
  const counted = [...text.matchAll(/^shieldlog_search_seconds_count\{output="(\w+)",outcome="answered"\} [1-9]/gm)].map(
    ([, output]) => output,
  );
  expect(counted.toSorted()).toEqual(['explore', 'rules', 'zones']);
});

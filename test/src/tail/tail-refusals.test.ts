import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { openTail, tailPath, watchers } from './tail-client.ts';

let app: RunningApp;

afterEach(() => app.stop());

describe('a request for a live tail', () => {
  const ACCESS_KEYS = 'all:key-of-every-zone-1:*,some:key-of-two-zones-22:7+8';
  const stream = { accept: 'text/event-stream' };

  test.each([
    ['{"from":1}', 'from'],
    ['{"filters":[{"field":"ip","op":"cidr","value":["10.0.0.0/33"]}]}', 'filters[0].value[0]'],
    ['{"query":7}', 'query'],
    ['{"exclude":[{"field":"ip","op":"cidr","value":["10.0.0.0/33"]}]}', 'exclude[0].value[0]'],
    ['', '$'],
    ['{', '$'],
  ])('for what the search refuses is refused in the same way: %s', async (conditions, field) => {
    app = await startApp();
    const { status, headers, body } = await ask(app, `${tailPath()}?${new URLSearchParams({ search: conditions })}`, { headers: stream });
    expect([status, headers.get('content-type'), body.errorKey]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
      'request.invalid',
    ]);
    expect(body.errors[0].field).toBe(field);
    if (conditions.startsWith('{"filters')) {
      expect(body.errors).toEqual((await search(app, lastHour(JSON.parse(conditions)))).body.errors);
    }
  });

  test.each([
    ['?other=1', 'other'],
    ['?search={}&search={}', 'search'],
    ['?lastEventId=nonsense', 'lastEventId'],
  ])('with %s names %s', async (query, field) => {
    app = await startApp();
    const { status, body } = await ask(app, `${tailPath()}${query}`, { headers: stream });
    expect([status, body.errors[0].field]).toEqual([400, field]);
  });

  test('that takes no event stream: 406; with a key of other zones: 403; without one: 401', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const accesskey = 'key-of-two-zones-22';
    expect((await ask(app, tailPath(), { headers: { accesskey, accept: 'application/json' } })).status).toBe(406);
    const denied = await ask(app, tailPath({ zone: 9 }), { headers: { accesskey, ...stream } });
    expect([denied.status, denied.body.errorKey]).toEqual([403, 'access.zone_denied']);
    expect((await ask(app, tailPath(), { headers: stream })).status).toBe(401);
    const tail = await openTail(app, { zone: 8, accessKey: accesskey });
    await ingest(app, eventLine({ shieldZoneId: 8, logId: 'a' }) + eventLine({ shieldZoneId: 7 }), { accesskey });
    await eventually('the event of the zone', () => tail.rows.length > 0);
    expect(tail.logIds()).toEqual(['a']);
  });

  test('that looks through a field too often is refused, and the field is named', async () => {
    app = await startApp();
    const wildcards = (count: number) => Array.from({ length: count }, (_, index) => `*${index}*`);
    const asked = (count: number) => tailPath({ search: { filters: [{ field: 'ua', op: 'wildcard', value: wildcards(count) }] } });
    const { status, body } = await ask(app, asked(101), { headers: stream });
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'search', message: expect.stringMatching(/^must look through ua of an event at most 100 times, not 101: /) }],
    ]);
    const leaving = new AbortController();
    expect((await fetch(`${app.url}${asked(100)}`, { signal: leaving.signal })).status).toBe(200);
    leaving.abort();
  });

  test('that looks through a field too often with what it excludes is refused', async () => {
    app = await startApp();
    const wildcards = (count: number) => [
      { field: 'ua', op: 'wildcard', value: Array.from({ length: count }, (_, index) => `*${index}*`) },
    ];
    const path = tailPath({ search: { filters: wildcards(50), exclude: wildcards(51) } });
    const { status, body } = await ask(app, path, { headers: stream });
    expect([status, body.errors?.[0].message]).toEqual([400, expect.stringMatching(/ ua of an event at most 100 times, not 101: /)]);
  });

  test('that excludes events gets the others', async () => {
    app = await startApp();
    const tail = await openTail(app, { search: { exclude: [{ field: 'country', op: 'eq', value: ['de'] }] } });
    await ingest(app, ['DE', 'CH'].map((country) => eventLine({ logId: country, country })).join('') + eventLine({ logId: 'none' }));
    await eventually('the others', () => tail.rows.length > 1);
    expect(tail.logIds()).toEqual(['CH', 'none']);
  });

  test('beyond the number that is served is told when to try again', async () => {
    app = await startApp({ tailLimits: { maxWatchers: 2 } });
    const [first] = await Promise.all([openTail(app), openTail(app)]);
    const { status, headers, body } = await ask(app, tailPath(), { headers: stream });
    expect([status, body.errorKey, Number(headers.get('retry-after')) > 0]).toEqual([503, 'tail.full', true]);
    first.close();
    await eventually('there is room', async () => (await watchers(app)) < 2);
    await openTail(app);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const PATH = '/shield/event-logs/7/search';
/** Past 2^53: a number that JavaScript cannot hold. */
const DIGITS = '9007199254740993123';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const lines = [
    eventLine({
      logId: 'a',
      ip: '192.0.2.1',
      feature: 'waf',
      action: 'blocked',
      country: 'DE',
      asn: 'AS64500',
      ruleId: 'r1',
      ruleName: 'One',
    }),
    eventLine({ logId: 'b', ip: '192.0.2.1', feature: 'ddos', action: 'logged', country: 'DE', ruleId: 'r2' }),
    eventLine({ logId: 'c', ip: '192.0.2.2', url: '/Ä "quoted"' }).replace('"url"', `"log":{"big":${DIGITS}},"url"`),
  ];
  const { status, text } = await ingest(app, lines.join(''));
  expect([status, JSON.parse(text)]).toEqual([
    202,
    { accepted: 3, duplicates: derived.duplicates(0), expired: 0, repaired: 0, rejected: [], rejectedCount: 0 },
  ]);
});

afterAll(() => app.stop());

describe('a search', () => {
  test('answers rows with fields and the whole log, and nothing grouped', async () => {
    const { status, headers, body } = await search(app, lastHour({ filters: [{ field: 'ruleId', op: 'eq', value: ['r1'] }] }));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(Object.keys(body)).toEqual(['rows', 'groups', 'total', 'totalPages', 'page', 'errorResponse']);
    expect(body).toMatchObject({ groups: null, total: 1, totalPages: 1, page: 0 });
    expect(body.errorResponse).toEqual({ statusCode: 200, success: true, message: null, errorKey: null });
    expect(Object.keys(body.rows[0])).toEqual(['logId', 'timestamp', 'log', 'fields']);
    expect(body.rows[0].fields).toEqual({
      feature: 'waf',
      ruleId: 'r1',
      ruleName: 'One',
      ip: '192.0.2.1',
      asn: '64500',
      country: 'DE',
      action: 'blocked',
    });
  });

  test('answers groups with their context and sparkline, and no rows', async () => {
    const { body } = await search(app, lastHour({ groupBy: ['ip'], buckets: 4, pageSize: 1 }));
    expect(body).toMatchObject({ rows: null, total: 2, totalPages: 2, page: 0 });
    expect(body.groups).toHaveLength(1);
    expect(body.groups[0]).toMatchObject({
      key: { ip: '192.0.2.1' },
      count: 2,
      context: { country: 'DE', asn: '64500', blocked: 1, challenged: 0, logged: 1, features: 'ddos,waf', ruleIds: 'r1,r2' },
    });
    expect(body.groups[0].sparkline).toHaveLength(4);
  });

  test('leaves the sparkline out where no buckets are asked for', async () => {
    const { body } = await search(app, lastHour({ groupBy: ['ip'] }));
    expect(body.groups[0]).not.toHaveProperty('sparkline');
  });

  test('loses no digit of an integer in the log', async () => {
    const { text } = await search(app, lastHour({ query: 'quoted' }));
    expect(text).toContain(`"log":{"big":${DIGITS}}`);
  });

  test('reads its body as UTF-8', async () => {
    expect((await search(app, lastHour({ query: 'ä' }))).body.total).toBe(1);
  });

  test('of a zone that nobody sent events for finds nothing', async () => {
    const { status, body } = await search(app, lastHour(), {}, 2_147_483_647);
    expect([status, body.rows, body.groups, body.total, body.totalPages]).toEqual([200, [], null, 0, 0]);
  });

  test.each([-5, -2_147_483_648])('of the zone %i finds its events and no others', async (zone) => {
    await ingest(app, eventLine({ logId: 'd', shieldZoneId: zone }));
    const { status, body } = await search(app, lastHour(), {}, zone);
    expect([status, body.total, body.rows[0].logId]).toEqual([200, 1, 'd']);
    expect((await search(app, lastHour({ groupBy: ['ip'] }), {}, zone)).body.total).toBe(1);
  });

  test.each(['text/json', 'application/vnd.x+json; charset=utf-8', 'APPLICATION/JSON'])('may be sent as %s', async (type) => {
    expect((await search(app, lastHour(), { 'content-type': type })).status).toBe(200);
  });

  test.each([
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/json', 'text/json; charset=utf-8'],
    ['text/html, */*;q=0.5', 'application/json; charset=utf-8'],
  ])('is answered for Accept: %s as %s', async (accept, type) => {
    const { status, headers, body } = await search(app, lastHour(), { accept });
    expect([status, headers.get('content-type'), body.total]).toEqual([200, type, 3]);
  });
});

describe('a search is refused with ProblemDetails', () => {
  const good = lastHour();
  test.each([
    ['a zone that is no number', 400, 'request.invalid', '/shield/event-logs/x/search', {}, good],
    ['a zone past int32', 400, 'request.invalid', '/shield/event-logs/2147483648/search', {}, good],
    ['a zone below int32', 400, 'request.invalid', '/shield/event-logs/-2147483649/search', {}, good],
    ['no body', 400, 'request.invalid', PATH, {}, undefined],
    ['an empty body', 400, 'request.invalid', PATH, {}, ''],
    ['a body that is not JSON', 400, 'request.invalid', PATH, {}, '{"from":'],
    ['a body that is an array', 400, 'request.invalid', PATH, {}, '[]'],
    ['an unknown property', 400, 'request.invalid', PATH, {}, lastHour({ limit: 5 })],
    ['a type that is not JSON', 415, 'body.unsupported_type', PATH, { 'content-type': 'application/xml' }, good],
    ['a charset other than UTF-8', 415, 'body.unsupported_type', PATH, { 'content-type': 'application/json; charset=utf-16' }, good],
    ['a body that is compressed', 415, 'body.unsupported_type', PATH, { 'content-encoding': 'gzip' }, good],
    ['nothing acceptable', 406, 'accept.none', PATH, { accept: 'text/html' }, good],
    ['a body past a mebibyte', 413, 'body.too_large', PATH, {}, lastHour({ query: 'x'.repeat(1024 * 1024) })],
    ['a path that cannot be decoded', 400, 'request.malformed', '/shield/event-logs/%ff/search', {}, good],
    ['a zone of 300 characters', 400, 'request.invalid', `/shield/event-logs/${'7'.repeat(300)}/search`, {}, good],
    ['a zone of 10,000 characters', 400, 'request.invalid', `/shield/event-logs/${'7'.repeat(10_000)}/search`, {}, good],
    ['a long path that does not exist', 404, 'route.not_found', `/nothing/${'7'.repeat(10_000)}`, {}, '{'],
    ['a path that does not exist', 404, 'route.not_found', '/shield/event-logs/7/serach', {}, good],
  ])('for %s: %i %s', async (_what, status, errorKey, path, headers, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, ...(body === undefined ? {} : { body }) };
    const answer = await ask(app, path, init);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8']);
    expect(answer.body).toMatchObject({ status, errorKey, instance: path });
    for (const field of ['type', 'title', 'detail']) expect(typeof answer.body[field]).toBe('string');
  });

  test('naming each wrong thing by its JSON path, with the value', async () => {
    const { status, body } = await search(
      app,
      lastHour({ pageSize: 'x', filters: [{ field: 'ip', op: 'cidr', value: ['10.0.0.0/8', '10.0.0.0/33'] }] }),
    );
    expect(status).toBe(400);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).toContain('filters[0].value[1]');
    expect(fields).toContain('pageSize');
    expect(JSON.stringify(body.errors)).toContain('10.0.0.0/33');
  });

  test('naming the first hundred wrong things, and how many more there are', async () => {
    const filters = Array.from({ length: 100 }, () => ({ field: 'x', op: 'eq', value: [5, 6] }));
    const { status, body } = await search(app, lastHour({ filters }));
    expect([status, body.errors.length]).toEqual([400, 101]);
    expect(body.errors[100]).toEqual({ field: '$', message: expect.stringMatching(/^has \d+ more errors that are not listed$/) });
  });

  test('with another method: 405 and the methods there are', async () => {
    const { status, headers, body } = await ask(app, PATH, { method: 'PUT' });
    expect([status, headers.get('allow'), body.errorKey]).toEqual([405, 'POST', 'route.method_not_allowed']);
  });
});

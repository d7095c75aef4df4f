import { request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const ALL = 'key-of-every-zone-1';
const SOME = 'key-of-two-zones-22';
const ACCESS_KEYS = `all:${ALL}:*,some:${SOME}:7+8`;

let app: RunningApp;

afterEach(() => app.stop());

/** A request with a Host header of its own choice, which `fetch` does not allow. */
async function askAs(headers: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const request = httpRequest(`${app.url}/shield/event-logs/7/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      setHost: false,
    });
    request.on('response', resolve).on('error', reject);
    request.end(lastHour());
  });
  return { status: response.statusCode ?? 0, body: await json(response) };
}

describe('without access keys, on loopback', () => {
  test('everybody on this machine may search, take in and look', async () => {
    app = await startApp();
    expect((await ingest(app, eventLine())).status).toBe(202);
    expect((await search(app, lastHour())).status).toBe(200);
    for (const path of ['/healthz', '/readyz', '/metrics', '/ingest/dead-letters']) expect((await ask(app, path)).status).toBe(200);
  });

  test.each(['localhost:8080', '127.0.0.1', '[::1]:1', 'LOCALHOST'])('a request for Host: %s is answered', async (host) => {
    app = await startApp();
    expect((await askAs({ host })).status).toBe(200);
  });

  test.each(['evil.example', '127.0.0.1.evil.example', '10.0.0.1:8080', 'localhost@evil.example', ''])(
    'a page whose name was pointed here is not: Host: %s',
    async (host) => {
      app = await startApp();
      const { status, body } = await askAs({ host });
      expect([status, (body as { errorKey: string }).errorKey]).toEqual([403, 'access.foreign_page']);
    },
  );

  test.each(['https://evil.example', 'null', 'http://localhost:1'])('nor is a page elsewhere: Origin: %s', async (origin) => {
    app = await startApp();
    expect((await askAs({ host: 'localhost:8080', origin })).status).toBe(403);
    expect((await askAs({ host: 'localhost:8080', origin: 'http://localhost:8080' })).status).toBe(200);
  });
});

describe('behind a proxy, without access keys', () => {
  const OUTSIDE = 'https://waf.example:8443';

  test.each([
    { host: '127.0.0.1:8080', origin: OUTSIDE, status: 200 },
    { host: 'waf.example', origin: OUTSIDE, status: 200 },
    { host: 'WAF.example:8443', origin: OUTSIDE, status: 200 },
    { host: 'waf.example:8443', status: 200 },
    { host: 'localhost:8080', origin: 'http://localhost:8080', status: 200 },
    { host: 'waf.example.evil.example', origin: OUTSIDE, status: 403 },
    { host: 'evil.example', status: 403 },
    { host: 'waf.example', origin: 'https://waf.example', status: 403 },
    { host: 'waf.example', origin: 'https://evil.example', status: 403 },
    { host: 'waf.example', 'sec-fetch-site': 'cross-site', status: 403 },
  ])('with PUBLIC_URL, a request with %o', async ({ status, ...headers }) => {
    app = await startApp({ env: { PUBLIC_URL: `${OUTSIDE}/waf` } });
    expect((await askAs(headers as Record<string, string>)).status).toBe(status);
  });

  test('without it, the refusal names it', async () => {
    app = await startApp();
    for (const headers of [{ host: 'waf.example' }, { host: '127.0.0.1:8080', origin: OUTSIDE }]) {
      const { status, body } = await askAs(headers);
      expect([status, (body as { detail: string }).detail]).toEqual([403, expect.stringMatching(/PUBLIC_URL, which is not set$/)]);
    }
  });
});

describe('with access keys', () => {
  test.each([
    ['none', {}, 'access.key_missing'],
    ['an empty one', { accesskey: '' }, 'access.key_missing'],
    ['a wrong one', { accesskey: `${ALL}x` }, 'access.key_unknown'],
    ['a hash of one', { accesskey: 'a'.repeat(64) }, 'access.key_unknown'],
  ])('a request with %s: 401', async (_what, headers, errorKey) => {
    app = await startApp({ env: { ACCESS_KEYS } });
    for (const answer of [await search(app, lastHour(), headers), await ingest(app, eventLine(), headers)]) {
      expect([answer.status, answer.body.errorKey]).toEqual([401, errorKey]);
      expect([answer.headers.get('content-type'), answer.headers.get('www-authenticate')]).toEqual([
        'application/problem+json; charset=utf-8',
        'AccessKey',
      ]);
      expect(answer.text).not.toContain(ALL);
    }
    expect((await app.store.stats()).events).toBe(0);
  });

  test('a key searches its zones and no other', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    for (const zone of [7, 8]) expect((await search(app, lastHour(), { accesskey: SOME }, zone)).status).toBe(200);
    const { status, body } = await search(app, lastHour(), { accesskey: SOME }, 9);
    expect([status, body.errorKey, body.detail]).toEqual([403, 'access.zone_denied', 'The access key does not open shield zone 9']);
    expect((await search(app, lastHour(), { AccessKey: ALL }, 9)).status).toBe(200);
  });

  test('a key opens negative zones too', async () => {
    app = await startApp({ env: { ACCESS_KEYS: `some:${SOME}:-5+7` } });
    for (const [zone, status] of [
      [-5, 200],
      [7, 200],
      [5, 403],
      [-7, 403],
    ] as const) {
      expect((await search(app, lastHour(), { accesskey: SOME }, zone)).status).toBe(status);
    }
    expect((await ingest(app, eventLine({ shieldZoneId: -5 }), { accesskey: SOME })).body.accepted).toBe(1);
    expect((await ingest(app, eventLine({ shieldZoneId: -7 }), { accesskey: SOME })).status).toBe(403);
  });

  test('a key takes in events of its zones', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const { status, body } = await ingest(app, eventLine() + eventLine({ shieldZoneId: 8 }), { accesskey: SOME });
    expect([status, body.accepted]).toEqual([202, 2]);
  });

  test.each([
    ['an event', eventLine({ shieldZoneId: 9 })],
    ['an event that would be a dead letter', eventLine({ shieldZoneId: 9, timestamp: Date.now() + 3_600_000 })],
  ])('and %s of another zone is refused, with the batch it is in', async (_what, line) => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const { status, body } = await ingest(app, eventLine() + line, { accesskey: SOME });
    expect([status, body.errorKey]).toEqual([403, 'access.zone_denied']);
    expect(body.detail).toContain('shield zone 9');
    expect([(await app.store.stats()).events, (await app.store.stats()).deadLetters]).toEqual([0, 0]);
  });

  const ahead = (): string => eventLine({ shieldZoneId: 9, timestamp: Date.now() + 608_000 }).trim();

  test.each([
    ['the first line', () => `\ufeff${ahead()}\n`],
    ['a later line', () => `${eventLine()}\ufeff${ahead()}\n`],
    ['an element of an array', () => `[${eventLine().trim()},\ufeff${ahead()}]`],
  ])('so is a dead letter of another zone behind a byte order mark: %s', async (_what, body) => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const answer = await ingest(app, body(), { accesskey: SOME });
    expect([answer.status, answer.body.errorKey]).toEqual([403, 'access.zone_denied']);
    expect([(await app.store.stats()).events, (await app.store.stats()).deadLetters]).toEqual([0, 0]);
  });

  test.each([
    ['the first', [9], 0],
    ['the one behind good, expired and broken ones', [7, 'expired', 'broken', 8, 9, 9], 4],
    ['a dead letter before it', [7, 'future', 9], 1],
    ['the last of an array', [7, 8, 9], 2],
  ] as const)('and the answer names the index of the event: %s', async (what, events, index) => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const texts = events.map((event) => {
      if (event === 'broken') return '{"shieldZoneId":7}';
      if (event === 'expired') return eventLine({ timestamp: 1 }).trim();
      if (event === 'future') return eventLine({ shieldZoneId: 9, timestamp: Date.now() + 3_600_000 }).trim();
      return eventLine({ shieldZoneId: event }).trim();
    });
    const { status, body } = await ingest(app, what.endsWith('array') ? `[${texts.join(',')}]` : texts.join('\n'), { accesskey: SOME });
    const message = `The event ${index} (counted from 0) is of shield zone 9, which the access key does not open`;
    expect([status, body.errors]).toEqual([403, [{ field: `$[${index}].shieldZoneId`, message }]]);
    expect(body.detail).toBe(`${message}; nothing from that event's batch on was stored`);
    expect([(await app.store.stats()).events, (await app.store.stats()).deadLetters]).toEqual([0, 0]);
  });

  test('and an event of another zone in a later batch is counted from the start of the upload', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const line = eventLine({ log: { padding: 'x'.repeat(400_000) } });
    const { status, body } = await ingest(app, line.repeat(100) + eventLine({ shieldZoneId: 9 }) + line, { accesskey: SOME });
    expect([status, body.errors?.[0].field]).toEqual([403, '$[100].shieldZoneId']);
  });

  test('an upload that is refused on its way is told so, not cut off', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    const line = eventLine({ shieldZoneId: 9, log: { padding: 'x'.repeat(200_000) } });
    const { status, body } = await ingest(app, line.repeat(200), { accesskey: SOME });
    expect([status, body.errorKey]).toEqual([403, 'access.zone_denied']);
  });

  test.each(['127.0.0.1', '0.0.0.0'])('health needs none, metrics need one, also at HOST=%s', async (host) => {
    app = await startApp({ env: { ACCESS_KEYS, HOST: host } });
    for (const path of ['/healthz', '/readyz']) expect((await ask(app, path)).status).toBe(200);
    expect((await ask(app, '/metrics')).status).toBe(401);
    expect((await ask(app, '/metrics', { headers: { accesskey: SOME } })).status).toBe(403);
    expect((await ask(app, '/metrics', { headers: { accesskey: ALL } })).status).toBe(200);
  });

  test('a method that a path does not have is told to everyone where the path needs no key, and else to those with one', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    for (const path of ['/healthz', '/readyz', '/openapi.json'])
      expect((await ask(app, path, { method: 'DELETE' })).status, path).toBe(405);
    for (const path of ['/ingest/events', '/metrics']) {
      expect((await ask(app, path, { method: 'DELETE' })).status).toBe(401);
      expect((await ask(app, path, { method: 'DELETE', headers: { accesskey: SOME } })).status).toBe(405);
    }
  });

  test('a path that does not exist says so only to those with a key', async () => {
    app = await startApp({ env: { ACCESS_KEYS } });
    expect((await ask(app, '/nothing')).status).toBe(401);
    expect((await ask(app, '/nothing', { headers: { accesskey: SOME } })).status).toBe(404);
  });
});

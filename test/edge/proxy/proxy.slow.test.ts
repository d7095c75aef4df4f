import 'reflect-metadata';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { X509CertificateGenerator } from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { EdgeError } from '../../../edge/edge-error.ts';
import { COMPANIONS, OPERATIONS, rangesText } from '../../../edge/operations/operations.ts';
import { EXAMPLE_REQUESTS, exampleOf, send } from '../example-requests.ts';
import { expectAnswer } from '../schema-check.ts';
import { type RecordingUpstream, recordingUpstream } from '../upstreams.ts';
import { startProxy } from './proxy-app.ts';

async function echo(): Promise<RecordingUpstream> {
  return recordingUpstream((_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
}

describe('a proxied request', () => {
  test.each(EXAMPLE_REQUESTS)('of operation $number reaches the upstream as $method $path, its body byte for byte', async (example) => {
    await using upstream = await echo();
    await using proxy = await startProxy({ target: { url: upstream.url } });
    const sent = example.body === undefined ? undefined : ` ${JSON.stringify(example.body)}\n`;
    const answer = await send(proxy.url, { ...example, body: sent });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    expect(upstream.seen).toMatchObject([{ method: example.method, url: example.path, body: sent ?? '' }]);
  });

  test('takes along only the headers that the operation needs', async () => {
    await using upstream = await echo();
    await using proxy = await startProxy({ target: { url: upstream.url, passes: ['accesskey'] } });
    const headers = {
      accesskey: 'of-the-caller',
      authorization: 'Bearer x',
      cookie: 'a=b',
      'x-forwarded-for': '192.0.2.1',
      'x-other': '1',
    };
    await send(proxy.url, exampleOf(4), headers);
    const body = JSON.stringify(exampleOf(4).body);
    expect(upstream.seen[0]?.headers).toEqual({
      host: upstream.url.slice('http://'.length),
      connection: 'keep-alive',
      accept: '*/*',
      'accept-encoding': 'identity',
      accesskey: 'of-the-caller',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  test("has the upstream's own key instead of the caller's", async () => {
    await using upstream = await echo();
    await using proxy = await startProxy({
      target: { url: upstream.url, passes: ['accesskey'], headers: { accesskey: 'of-the-upstream' } },
    });
    await send(proxy.url, exampleOf(11), { accesskey: 'of-the-caller' });
    expect(upstream.seen[0]?.headers['accesskey']).toBe('of-the-upstream');
  });

  test('keeps the path that the upstream has before the operations', async () => {
    await using upstream = await echo();
    await using proxy = await startProxy({ target: { url: `${upstream.url}/edge/v1/` } });
    await send(proxy.url, { number: 11, method: 'GET', path: '/mc/nodes?nextCursor=..%2F%26limit%3D5' });
    expect(upstream.seen[0]?.url).toBe('/edge/v1/mc/nodes?nextCursor=..%2F%26limit%3D5');
  });

  test.each(['application/json', 'text/json', 'application/merge-patch+json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'of operations 3 and 5 may have its body as %s',
    async (type) => {
      await using upstream = await echo();
      await using proxy = await startProxy({ target: { url: upstream.url } });
      for (const id of [3, 5]) expect((await send(proxy.url, exampleOf(id), { 'content-type': type })).status).toBe(200);
      expect(upstream.seen[0]?.headers['content-type']).toBe(type.split(';')[0]?.toLowerCase());
    },
  );
});

test.each([
  ['without a Content-Type', {}],
  ['as the text that fetch makes of it', { 'content-type': 'text/plain;charset=UTF-8' }],
  ['as a text without a charset', { 'content-type': 'Text/Plain' }],
])('a body of the database %s reaches the upstream as JSON', async (_what, headers) => {
  await using upstream = await echo();
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const { method, path, body } = exampleOf(14);
  // Bytes, because `fetch` gives a text a type.
  const answer = await fetch(`${proxy.url}${path}`, { method, headers, body: Buffer.from(JSON.stringify(body)) });
  expect(answer.status, await answer.text()).toBe(200);
  expect(upstream.seen).toMatchObject([{ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }]);
});

describe('an answer', () => {
  test.each([
    [200, 'application/json; charset=utf-8', '{"Id":1,"Unknown":12345678901234567890}'],
    [201, 'text/json', '{}'],
    [204, null, ''],
    [400, 'application/json', '{"ErrorKey":"x","Field":"y","Message":"z"}'],
    [401, 'text/html', '<p>no</p>'],
    [418, 'text/plain', 'teapot'],
    [500, null, ''],
  ])('of status %i and type %s comes back unchanged', async (status, type, body) => {
    await using upstream = await recordingUpstream((_request, response) => {
      response
        .writeHead(status, { ...(type === null ? {} : { 'content-type': type }), 'x-powered-by': 'secret', 'set-cookie': 'a=b' })
        .end(body);
    });
    await using proxy = await startProxy({ target: { url: upstream.url } });
    const answer = await send(proxy.url, exampleOf(2));
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([status, type, body]);
    expect([answer.headers.get('x-powered-by'), answer.headers.get('set-cookie')]).toEqual([null, null]);
  });
});

type Case = readonly [
  what: string,
  id: number,
  change: { readonly path?: string; readonly body?: unknown; readonly type?: string },
  status: number,
];

const REFUSED: readonly Case[] = [
  ['a zone that is no number', 12, { path: '/shield/shield-zone/seven/access-lists/1' }, 400],
  ['a zone past 32 bits', 13, { path: '/shield/metrics/shield-zone/2147483648/api-guardian' }, 400],
  ['a script id of 0', 2, { path: '/compute/script/0/variables' }, 400],
  ['an application that climbs', 10, { path: '/mc/apps/..%2f..%2fsecret/overview' }, 400],
  ['a limit past the most', 11, { path: '/mc/nodes?limit=1001' }, 400],
  ['a limit in hexadecimal', 11, { path: '/mc/nodes?limit=0x10' }, 400],
  ['a limit twice', 11, { path: '/mc/nodes?limit=1&limit=2' }, 400],
  ['a granularity that is none', 9, { path: '/mc/apps/shieldlog/statistics?granularity=daily' }, 400],
  ['no granularity', 9, { path: '/mc/apps/shieldlog/statistics' }, 400],
  ['an empty granularity', 9, { path: '/mc/apps/shieldlog/statistics?granularity=' }, 400],
  ['a time that is none', 9, { path: '/mc/apps/shieldlog/statistics?granularity=Daily&fromDate=yesterday' }, 400],
  ['an empty Hostname', 8, { body: { Hostname: '' } }, 400],
  ['a field in other letters', 8, { body: { hostname: 'a.example' } }, 400],
  ['an action past the last', 5, { body: { action: 4 } }, 400],
  ['an action that is a text', 5, { body: { action: '1' } }, 400],
  ['a body that is a list', 4, { body: [] }, 400],
  ['a body that is not JSON', 4, { body: '{"Domain":' }, 400],
  ['no body', 4, { body: '' }, 400],
  ['a wrong field deep inside', 4, { body: { Domain: 'a.example', Records: [{ Type: 0 }, { Type: 0, Weight: 101 }] } }, 400],
  ['a text type that is not JSON', 5, { type: 'text/plain' }, 415],
  ['a JSON type that the operation does not have', 4, { type: 'text/json' }, 415],
  ['a body without a type', 4, { type: '' }, 415],
  ['a text in another charset', 14, { type: 'text/plain; charset=iso-8859-1' }, 415],
  ['another charset', 3, { type: 'application/json; charset=utf-16' }, 415],
  ['a body that is too large', 2, { body: { Name: 'x'.repeat(70_000) } }, 413],
];

test.each([
  [4, 'AccessKey'],
  [11, 'AccessKey'],
  [14, 'Bearer'],
])('a 401 of an upstream says how to do better, in our words: operation %i', async (id, challenge) => {
  await using upstream = await recordingUpstream((_request, response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="db7.internal"' }).end(),
  );
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const answer = await send(proxy.url, exampleOf(id));
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
});

describe('before an upstream is asked', () => {
  test.each(REFUSED)('%s is refused by operation %i in its own shape', async (_what, id, change, status) => {
    await using upstream = await echo();
    await using proxy = await startProxy({ target: { url: upstream.url } });
    const { type, ...rest } = change;
    const answer = await send(proxy.url, { ...exampleOf(id), ...rest }, type === undefined ? {} : { 'content-type': type });
    const text = await answer.text();
    expect(answer.status, text).toBe(status);
    expectAnswer(id, status, JSON.parse(text));
    expect(upstream.seen).toEqual([]);
  });

  test('a refusal names the path, the value and what is allowed', async () => {
    await using proxy = await startProxy({ target: { url: 'http://127.0.0.1:9' } });
    const wrong = { Domain: 'a.example', Records: [{ Weight: 5 }, { Weight: 101 }] };
    const answer = await send(proxy.url, { ...exampleOf(4), body: wrong });
    expect(await answer.json()).toEqual({
      ErrorKey: 'request.invalid',
      Field: 'Records[1].Weight',
      Message: 'Records[1].Weight: 101 must be <= 100',
    });
    const nothing = await send(proxy.url, { ...exampleOf(4), body: '' });
    expect(await nothing.json()).toMatchObject({ Field: 'body', Message: 'The body is missing' });
    const granularity = await send(proxy.url, { ...exampleOf(9), path: '/mc/apps/a/statistics?granularity=Weekly' });
    expect(await granularity.json()).toMatchObject({
      status: 400,
      instance: '/mc/apps/a/statistics',
      errors: [{ field: 'granularity', message: '"Weekly" is not allowed; allowed: Daily, Hourly, Minute' }],
    });
  });

  test.each(EXAMPLE_REQUESTS)('a caller who may not use operation $number is told so in its shape', async ({ number }) => {
    await using upstream = await echo();
    const authorize = (): void => {
      throw new EdgeError(401, 'access.key_missing', 'The AccessKey header is missing');
    };
    await using proxy = await startProxy({ target: { url: upstream.url }, authorize });
    const answer = await send(proxy.url, exampleOf(number));
    expect(answer.status).toBe(401);
    expectAnswer(number, 401, await answer.json());
    expect(upstream.seen).toEqual([]);
  });

  test('a fault of our own is 500 in the shape of the operation, and only the log knows it', async () => {
    const authorize = (): void => {
      throw new Error('a secret detail');
    };
    await using proxy = await startProxy({ target: { url: 'http://127.0.0.1:9' }, authorize });
    const answer = await send(proxy.url, exampleOf(13));
    expect([answer.status, await answer.json()]).toEqual([500, { statusCode: 500 }]);
    expect(proxy.log.join('')).toContain('a secret detail');
  });
});

test('an upstream whose certificate nobody vouches for is not talked to', async () => {
  const { privateKey, certificate } = await selfSigned();
  let asked = 0;
  const server = createServer({ key: privateKey, cert: certificate }, (_request, response) => {
    asked += 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await using proxy = await startProxy({ target: { url: `https://localhost:${(server.address() as AddressInfo).port}` } });
    const answer = await send(proxy.url, exampleOf(4));
    expect([answer.status, asked]).toEqual([502, 0]);
    expect(await answer.json()).toMatchObject({ Message: 'The upstream could not be reached' });
  } finally {
    server.close();
  }
});

/** A key and a certificate that it has signed itself, both PEM. */
async function selfSigned(): Promise<{ privateKey: string; certificate: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({ name: 'CN=localhost', keys, signingAlgorithm: algorithm });
  const bytes = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${Buffer.from(bytes).toString('base64')}\n-----END PRIVATE KEY-----\n`;
  return { privateKey, certificate: certificate.toString('pem') };
}

test('the table has every operation once, and no two on one path', () => {
  const rows = [...OPERATIONS, ...COMPANIONS];
  expect(OPERATIONS.map(({ number }) => number)).toEqual(OPERATIONS.map((_row, index) => index + 2));
  expect(new Set(rows.map(({ method, path }) => `${method} ${path}`)).size).toBe(rows.length);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
});

test.each([
  [[2, 3, 4], '2 to 4'],
  [[3, 5, 12, 13], '3, 5, 12, 13'],
  [[2, 6, 7, 8, 9, 14], '2, 6 to 9, 14'],
  [[7], '7'],
])('the numbers %j are written %s', (numbers, text) => {
  expect(rangesText(numbers)).toBe(text);
});

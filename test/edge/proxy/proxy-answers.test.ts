import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { exampleOf, send } from '../example-requests.ts';
import { expectAnswer } from '../schema-check.ts';
import { CLOSED_PORT_URL, recordingUpstream, socketUpstream } from '../upstreams.ts';
import { type ProxyApp, startProxy } from './proxy-app.ts';

/** More than the sockets between proxy and caller hold. */
const LARGE = 24 * 1024 * 1024;

async function largeUpstream() {
  return recordingUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(LARGE, ' ')),
  );
}

/** A caller that reads the first bytes of its answer and no more. */
async function stalledCaller(proxy: ProxyApp): Promise<Socket> {
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET /mc/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'readable');
  return socket;
}

test('answers have so much memory together; beyond it a caller is told to come again, and is served once there is room', async () => {
  await using upstream = await largeUpstream();
  await using proxy = await startProxy({ target: { url: upstream.url }, maxAnswersBytes: LARGE + 1_000 });
  const stalled = await stalledCaller(proxy);
  const refused = await send(proxy.url, exampleOf(11));
  const text = await refused.text();
  expect([refused.status, refused.headers.get('retry-after')], text.slice(0, 200)).toEqual([503, '1']);
  expectAnswer(11, 503, JSON.parse(text));
  stalled.destroy();
  await eventually('there is room', async () => {
    const answer = await send(proxy.url, exampleOf(11));
    return answer.status === 200 && (await answer.bytes()).length === LARGE;
  });
});

test('bodies that wait for an upstream have so much memory together, and their callers give it back when they go', async () => {
  await using upstream = await socketUpstream(() => {});
  await using proxy = await startProxy({ target: { url: upstream.url }, maxBodiesBytes: 100_000 });
  const zone = { ...exampleOf(4), body: `{"Domain":"a.example"}${' '.repeat(100_000)}` };
  const leaving = new AbortController();
  const post = (signal: AbortSignal, body = zone.body) =>
    fetch(`${proxy.url}${zone.path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
  const waiting = post(leaving.signal).catch(String);
  await eventually('the first one waits', () => upstream.connections() === 1);
  const busy = async () => {
    const answer = await post(AbortSignal.timeout(500)).catch(() => null);
    return answer === null ? null : [answer.status, answer.headers.get('retry-after'), await answer.json()];
  };
  const refused = [503, '1', expect.objectContaining({ Message: 'Too many large bodies wait for their answers; try again later' })];
  let told: unknown = null;
  await eventually('another is answered at once', async () => {
    told = await busy();
    return told !== null;
  });
  expect(told).toEqual(refused);
  const line = proxy.log.find((text) => text.includes('body.busy')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ msg: 'a request was refused', operation: 'addDnsZone', path: '/dnszone' });
  expect(line).not.toContain('stack');
  // Those of a few fields are passed on.
  await expect(post(AbortSignal.timeout(500), '{"Domain":"a.example"}')).rejects.toThrow('timeout');
  leaving.abort();
  await waiting;
  await eventually('there is room', async () => (await busy()) === null);
});

const ANSWER = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
const BROKEN = 'The connection to the upstream broke, or it did not speak HTTP; the call may have been carried out';
const REDIRECT = 'The upstream answered with a redirect; the call may have been carried out';
const LATE = 'The upstream did not answer in time; the call may have been carried out';

describe('a call that may have been carried out is answered so', () => {
  test.each<readonly [string, number, string, (socket: Socket) => void]>([
    ['100 Continue, which nobody asked for', 502, BROKEN, (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${ANSWER}{}`)],
    ['nothing, and the connection is closed', 502, BROKEN, (socket) => socket.end()],
    ['nothing, and the connection is reset', 502, BROKEN, (socket) => socket.resetAndDestroy()],
    ['half of its headers', 502, BROKEN, (socket) => socket.end(ANSWER.slice(0, 60))],
    ['half of its body', 502, BROKEN, (socket) => socket.end(`${ANSWER}{`)],
    ['bytes that are not HTTP', 502, BROKEN, (socket) => socket.end('What?\r\n\r\n')],
    ['another protocol', 502, BROKEN, (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n')],
    ['a redirect', 502, REDIRECT, (socket) => socket.write('HTTP/1.1 303 See Other\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n')],
    ['nothing in time', 504, LATE, () => {}],
    ['its headers in time, and no body', 504, LATE, (socket) => socket.write(ANSWER)],
  ])('where %s comes of the upstream', async (_what, status, message, misbehave) => {
    await using upstream = await socketUpstream(misbehave);
    const deadlines = status === 504 ? { headersMs: 500, bodyMs: 500 } : { headersMs: 60_000, bodyMs: 60_000 };
    await using proxy = await startProxy({ target: { url: upstream.url }, deadlines });
    const answer = await send(proxy.url, exampleOf(4));
    expect([answer.status, await answer.json()]).toEqual([status, expect.objectContaining({ Message: message })]);
  });

  test('where there is no room for the answer', async () => {
    await using upstream = await largeUpstream();
    await using proxy = await startProxy({ target: { url: upstream.url }, maxAnswersBytes: 1_000 });
    const answer = await send(proxy.url, exampleOf(4));
    const Message = 'Too many large answers are on their way; try again later; the call may have been carried out';
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ Message })]);
  });

  test.each([
    ['nobody listens', CLOSED_PORT_URL],
    ['there is no such host', 'http://nowhere.invalid'],
  ])('but not where %s', async (_what, url) => {
    await using proxy = await startProxy({ target: { url } });
    const answer = await send(proxy.url, exampleOf(4));
    expect([answer.status, await answer.json()]).toEqual([502, expect.objectContaining({ Message: 'The upstream could not be reached' })]);
  });

  test('but not where no connection is made in time', async () => {
    await using upstream = await socketUpstream(() => {});
    await using proxy = await startProxy({ target: { url: upstream.url.replace('http:', 'https:') }, connectMs: 200 });
    const answer = await send(proxy.url, exampleOf(4));
    expect([answer.status, await answer.json()]).toEqual([
      504,
      expect.objectContaining({ Message: 'The upstream did not answer in time' }),
    ]);
  });
});

test.each([
  ['two content types', 'Content-Type: application/json\r\nContent-Type: text/plain\r\n'],
  ['a content type of bytes beyond ASCII', 'Content-Type: application/\xe9\r\n'],
  ['a Retry-After twice', 'Content-Type: application/json\r\nRetry-After: 1\r\nRetry-After: 2\r\n'],
])('%s of an upstream are handed on or refused, never a fault of our own', async (_what, headers) => {
  await using upstream = await socketUpstream((socket) =>
    socket.write(Buffer.from(`HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\n{}`, 'latin1')),
  );
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const answer = await send(proxy.url, exampleOf(11));
  expect([200, 502]).toContain(answer.status);
});

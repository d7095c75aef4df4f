import { describe, expect, onTestFinished, test } from 'vitest';
import { trustIn } from '../../../src/sinks/connections.ts';
import { createHttpClient } from '../../../src/sinks/http-exchange.ts';
import { httpSink } from '../../../src/sinks/http-sink.ts';
import { deliveredWhole } from '../../../src/sinks/sink.ts';
import { type HttpListener, httpListener, type Reaction } from './http-listener.ts';
import { expectedIds, idsIn, sampleBatch } from './sample-events.ts';
import { testCertificate } from './test-certificate.ts';

const STRICT = { acceptAny: false, setsAside: false };
const FOREVER = new AbortController().signal;

async function listen(...reactions: Reaction[]): Promise<HttpListener> {
  const listener = await httpListener(() => reactions.shift() ?? { status: 204 });
  onTestFinished(() => listener.stop());
  return listener;
}

function sinkTo(url: URL, options: Partial<Parameters<typeof httpSink>[0]> = {}) {
  const sink = httpSink({ url, token: null, gzip: false, client: createHttpClient(null), now: Date.now, ...STRICT, ...options });
  onTestFinished(() => sink.close());
  return sink;
}

describe('an HTTP receiver', () => {
  test.each([[false], [true]])('gets the lines as they are, with its token (gzip: %j)', async (gzip) => {
    const listener = await listen();
    await sinkTo(new URL('in?source=a', listener.url), { token: 'a-token', gzip }).deliver(sampleBatch(3), FOREVER);
    expect(listener.received).toMatchObject([
      {
        method: 'POST',
        url: '/in?source=a',
        body: sampleBatch(3).bytes.toString(),
        headers: { 'content-type': 'application/x-ndjson', authorization: 'Bearer a-token' },
      },
    ]);
    expect(listener.received[0]?.headers['content-encoding']).toBe(gzip ? 'gzip' : undefined);
  });

  test('gets a long batch in several requests, in order', async () => {
    const listener = await listen();
    await sinkTo(listener.url).deliver(sampleBatch(20_000), FOREVER);
    expect(listener.received.length).toBeGreaterThan(1);
    expect(listener.received.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(20_000));
  });

  test('that finds a body too large gets it in halves; a single line that is too large is refused', async () => {
    const limit = sampleBatch(3).bytes.length;
    const listener = await httpListener(({ body }) => ({ status: Buffer.byteLength(body) > limit ? 413 : 200 }));
    onTestFinished(() => listener.stop());
    await sinkTo(listener.url).deliver(sampleBatch(10), FOREVER);
    const taken = listener.received.filter(({ body }) => Buffer.byteLength(body) <= limit);
    expect(taken.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(10));
    const strict = await httpListener(() => ({ status: 413 }));
    onTestFinished(() => strict.stop());
    await expect(sinkTo(strict.url).deliver(sampleBatch(2), FOREVER)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('413'),
    });
  });

  test('that finds a single line too large gets the others, where such a line is set aside', async () => {
    const listener = await httpListener(({ body }) => ({ status: body.includes('"e2"') ? 413 : 200 }));
    onTestFinished(() => listener.stop());
    const { refused } = await sinkTo(listener.url, { setsAside: true }).deliver(sampleBatch(5), FOREVER);
    expect(refused.map(({ line, reason }) => [JSON.parse(line.toString()).logId, reason])).toEqual([
      ['e2', expect.stringContaining('answered 413')],
    ]);
    const taken = listener.received.filter(({ body }) => !body.includes('"e2"'));
    expect(taken.flatMap(({ body }) => idsIn(body))).toEqual(['e0', 'e1', 'e3', 'e4']);
  });

  test('that found a size too large gets nothing of that size any more', async () => {
    const limit = sampleBatch(3).bytes.length;
    const listener = await httpListener(({ body }) => ({ status: Buffer.byteLength(body) > limit ? 413 : 200 }));
    onTestFinished(() => listener.stop());
    const sink = sinkTo(listener.url);
    for (const first of [0, 8, 16]) await sink.deliver(sampleBatch(8, 'native', first), FOREVER);
    const refused = listener.received.filter(({ body }) => Buffer.byteLength(body) > limit);
    expect(refused.map(({ body }) => idsIn(body))).toEqual([expectedIds(8), expectedIds(4)]);
    const taken = listener.received.filter(({ body }) => Buffer.byteLength(body) <= limit);
    expect(taken.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(24));
  });

  test.each([
    [{ status: 400, body: '{"detail":"no such field"}' }, 'refused', '400: no such field', null],
    [{ status: 401, body: 'who?' }, 'refused', '401: who?', null],
    [{ status: 403 }, 'refused', '403', null],
    [{ status: 404, body: '<h1>Not\n here</h1>' }, 'refused', '404: <h1>Not here</h1>', null],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'refused', '302', null],
    [{ status: 429, headers: { 'retry-after': '7' } }, 'unavailable', '429', 7_000],
    [{ status: 501 }, 'refused', '501', null],
    [{ status: 500 }, 'unavailable', '500', null],
    [{ status: 503, headers: { 'retry-after': '2' }, body: 'busy' }, 'unavailable', '503: busy', 2_000],
    ['reset', 'unavailable', 'the connection to', null],
  ] as const)('that answers %j: %s', async (reaction, code, words, retryAfterMs) => {
    const listener = await listen(reaction);
    await expect(sinkTo(new URL('in?secret=s', listener.url)).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code,
      retryAfterMs,
      message: expect.stringContaining(words),
    });
    await expect(sinkTo(new URL('in?secret=s', listener.url)).deliver(sampleBatch(1), FOREVER)).resolves.toEqual(deliveredWhole(null));
  });

  test('is named in messages without its query, which may hold a secret', async () => {
    const listener = await listen({ status: 404 });
    const sink = sinkTo(new URL('in?secret=s', listener.url));
    await expect(sink.deliver(sampleBatch(1), FOREVER)).rejects.not.toThrow('secret');
    expect(sink.name).not.toContain('secret');
  });

  test('that is not there is unavailable, and has the batch when it is back', async () => {
    const first = await listen();
    await first.stop();
    const sink = sinkTo(first.url);
    await expect(sink.deliver(sampleBatch(2), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('nothing is listening'),
    });
    const second = await httpListener(() => ({ status: 200 }), { port: Number(first.url.port) });
    onTestFinished(() => second.stop());
    await sink.deliver(sampleBatch(2), FOREVER);
    expect(second.received.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(2));
  });

  test('that is given up while it keeps silent ends the delivery with the signal', async () => {
    const given = new AbortController();
    const listener = await httpListener(() => {
      given.abort(new Error('given up'));
      return { status: 200 };
    });
    onTestFinished(() => listener.stop());
    await expect(sinkTo(listener.url).deliver(sampleBatch(1), given.signal)).rejects.toThrow('given up');
  });

  test('behind TLS is trusted by its authority only, and is told how to be', async () => {
    const certificate = await testCertificate();
    const listener = await httpListener(() => ({ status: 200 }), { certificate });
    onTestFinished(() => listener.stop());
    await expect(sinkTo(listener.url).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('--ca'),
    });
    await sinkTo(listener.url, { client: createHttpClient(trustIn(certificate.cert)) }).deliver(sampleBatch(1), FOREVER);
    expect(listener.received).toHaveLength(1);
  });

  test('that speaks no TLS where some is expected is told of', async () => {
    const listener = await listen();
    await expect(sinkTo(new URL(`https://${listener.url.host}/`)).deliver(sampleBatch(1), FOREVER)).rejects.toThrow('does not speak TLS');
  });

  test('an authority that is no certificate is an error', () => {
    expect(() => trustIn('nonsense')).toThrow();
  });
});

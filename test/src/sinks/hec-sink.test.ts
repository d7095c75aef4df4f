import { describe, expect, onTestFinished, test } from 'vitest';
import { eventIdIn, type FeedFormatName } from '../../../src/formats/feed-formats.ts';
import { trustIn } from '../../../src/sinks/connections.ts';
import { hecSink } from '../../../src/sinks/hec-sink.ts';
import { createHttpClient } from '../../../src/sinks/http-exchange.ts';
import { type Delivery, deliveredWhole } from '../../../src/sinks/sink.ts';
import { eventsIn, type HecListener, type HecOptions, hecListener } from './hec-listener.ts';
import { expectedIds, SAMPLE_TIME, sampleBatch } from './sample-events.ts';
import { testCertificate } from './test-certificate.ts';

const FOREVER = new AbortController().signal;
const CHANNEL = '9f0cd5a5-6e3b-4c3a-9d8e-1f6f2b7c8d9e';

const TOO_LARGE = { status: 413, body: 'Content-Length of too many bytes' };

/** The id of an event as its format has it. */
function idOf(event: unknown): string {
  const { logId, event: inner } = event as { readonly logId?: string; readonly event?: { readonly id: string } };
  return logId ?? inner?.id ?? '';
}

let told: string[];

async function listen(options: HecOptions = {}): Promise<HecListener> {
  told = [];
  const listener = await hecListener(options);
  onTestFinished(() => listener.stop());
  return listener;
}

function sinkTo({ url }: HecListener, options: Partial<Parameters<typeof hecSink>[0]> = {}) {
  const sink = hecSink({
    url,
    token: 'hec-token',
    fields: { source: 'shieldlog', sourcetype: 'shieldlog:native', index: 'security', host: null },
    format: 'native',
    gzip: false,
    channel: CHANNEL,
    ackDeadlineMs: 60_000,
    ackPollMs: 5,
    client: createHttpClient(null),
    now: Date.now,
    acceptAny: false,
    setsAside: false,
    tell: (message) => told.push(message),
    ...options,
  });
  onTestFinished(() => sink.close());
  return sink;
}

const idsOf = (listener: HecListener): string[] => listener.events.map((entry) => (entry['event'] as { readonly logId: string }).logId);

describe("Splunk's event collector", () => {
  test.each([[false], [true]])(
    'gets events with their time, source, type and index over one channel, and acknowledges them (gzip: %j)',
    async (gzip) => {
      const listener = await listen();
      await sinkTo(listener, { gzip }).deliver(sampleBatch(3), FOREVER);
      expect(idsOf(listener)).toEqual(expectedIds(3));
      expect(listener.events[0]).toMatchObject({
        time: SAMPLE_TIME / 1_000,
        source: 'shieldlog',
        sourcetype: 'shieldlog:native',
        index: 'security',
      });
      expect(listener.received.map(({ url }) => url)).toEqual(['/services/collector/event', `/services/collector/ack?channel=${CHANNEL}`]);
      expect(listener.received.map(({ headers }) => headers['x-splunk-request-channel'])).toEqual([CHANNEL, CHANNEL]);
      expect(told).toEqual([]);
    },
  );

  test('gets a long batch in several requests, in order, and acknowledges each', async () => {
    const listener = await listen();
    await sinkTo(listener).deliver(sampleBatch(5_000), FOREVER);
    expect(listener.received.length).toBeGreaterThan(2);
    expect(idsOf(listener)).toEqual(expectedIds(5_000));
  });

  test.each([[false], [true]])('that finds a request too large gets it in halves, and acknowledges each (gzip: %j)', async (gzip) => {
    // The limit of Splunk Cloud, which the members that are added to short lines exceed.
    const listener = await listen({ fault: ({ body }) => (Buffer.byteLength(body) > 1024 * 1024 ? TOO_LARGE : null) });
    await sinkTo(listener, { gzip }).deliver(sampleBatch(5_000), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(5_000));
    const taken = listener.received.filter(({ url, body }) => url.endsWith('/event') && Buffer.byteLength(body) <= 1024 * 1024);
    const questions = listener.received.filter(({ url }) => url.includes('/ack'));
    expect(listener.received.length).toBeGreaterThan(taken.length + questions.length);
    expect(questions.map(({ body }) => JSON.parse(body))).toEqual([{ acks: taken.map((_, id) => id) }]);
  });

  test('that found a size too large gets nothing of that size any more', async () => {
    const listener = await listen({ fault: ({ body }) => (body.split('\n').length > 2 ? TOO_LARGE : null) });
    const sink = sinkTo(listener);
    for (const first of [0, 8]) await sink.deliver(sampleBatch(8, 'native', first), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(16));
    const refused = listener.received.map(({ body }) => body.split('\n').length).filter((lines) => lines > 2);
    expect(refused).toEqual([8, 4]);
  });

  test('that finds a single event too large has refused the batch', async () => {
    const listener = await listen({ fault: () => TOO_LARGE });
    await expect(sinkTo(listener).deliver(sampleBatch(3), FOREVER)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('413: Content-Length of too many bytes'),
    });
    expect(listener.received.map(({ body }) => body.split('\n').length)).toEqual([3, 1]);
  });

  test('that acknowledges late is asked until it does', async () => {
    const listener = await listen({ acknowledges: (question) => question > 4 });
    await sinkTo(listener).deliver(sampleBatch(2), FOREVER);
    expect(listener.received).toHaveLength(6);
    expect(idsOf(listener)).toEqual(expectedIds(2));
  });

  test('that never acknowledges has not accepted the batch', async () => {
    const listener = await listen({ acknowledges: () => false });
    await expect(sinkTo(listener, { ackDeadlineMs: 50 }).deliver(sampleBatch(2), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('1 of 1 acknowledgements of the batch did not come within 0.05 s'),
    });
  });

  test('that never acknowledges is given up as soon where the clock of this machine goes back meanwhile', async () => {
    const listener = await listen({ acknowledges: () => false });
    let clock = Date.now();
    const now = () => (clock -= 60_000);
    await expect(sinkTo(listener, { ackDeadlineMs: 50, now }).deliver(sampleBatch(2), FOREVER)).rejects.toMatchObject({
      message: expect.stringContaining('did not come within 0.05 s'),
    });
  });

  test('whose token has no acknowledgement is told of once; what it takes counts', async () => {
    const listener = await listen({ acks: false });
    const sink = sinkTo(listener);
    await sink.deliver(sampleBatch(1), FOREVER);
    await sink.deliver(sampleBatch(1, 'native', 1), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(2));
    expect(told).toEqual([expect.stringContaining('acknowledges no indexing')]);
  });

  test.each([
    ['answers a part of a batch without acknowledgement', (number: number) => (number === 2 ? null : number)],
    ['answers only the last part with one', (number: number) => (number === 1 || number === 2 ? null : number)],
    ['gives the same acknowledgement twice', (number: number) => (number === 2 ? 1 : number)],
  ])('that %s has not accepted the batch, and gets it again', async (_, ackIdOf) => {
    const parts = 3;
    const fault = ({ url }: { readonly url: string }, number: number) => {
      if (number > parts || url.includes('/ack')) return null;
      const ackId = ackIdOf(number);
      return { status: 200, body: JSON.stringify({ text: 'Success', code: 0, ...(ackId === null ? {} : { ackId }) }) };
    };
    const listener = await listen({ fault });
    const sink = sinkTo(listener);
    await expect(sink.deliver(sampleBatch(7_000), FOREVER)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/only \d of the batch's 3 requests have an acknowledgement of their own; behind a load balancer/),
    });
    await sink.deliver(sampleBatch(7_000), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(7_000));
    expect(told).toEqual([]);
  });

  test.each([
    [null, 'refused', `401, Splunk's code 2 "Token is required": a token is needed: set SHIELDLOG_SINK_TOKEN`],
    ['wrong', 'refused', `403, Splunk's code 4 "Invalid token": SHIELDLOG_SINK_TOKEN is not a token that Splunk knows`],
  ] as const)('with the token %j: %s', async (token, code, words) => {
    const listener = await listen();
    await expect(sinkTo(listener, { token }).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    });
  });

  test.each([
    [
      { status: 400, body: '{"text":"Incorrect index","code":7,"invalid-event-number":0}' },
      'refused',
      /code 7 "Incorrect index": the token may not write .*; it is invalid-event-number 0 of 1 events, e0; .*--rejected FILE$/,
      null,
    ],
    [
      { status: 503, body: '{"text":"Server is busy","code":9}', headers: { 'retry-after': '3' } },
      'unavailable',
      `code 9 "Server is busy"`,
      3_000,
    ],
    [{ status: 400, body: '{"text":"Queue at capacity","code":26}' }, 'unavailable', 'code 26', null],
    [{ status: 502, body: '<html>Bad gateway</html>' }, 'unavailable', '502: <html>', null],
    ['reset', 'unavailable', 'the connection to', null],
  ] as const)('that answers %j: %s', async (fault, code, words, retryAfterMs) => {
    const listener = await listen({ fault: (_request, number) => (number === 1 ? fault : null) });
    const sink = sinkTo(listener);
    await expect(sink.deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code,
      retryAfterMs,
      message: expect.stringMatching(words),
    });
    await sink.deliver(sampleBatch(1), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(1));
  });

  test.each([
    [{ text: 'Server is busy', code: 9 }, 'unavailable', `answered 200, Splunk's code 9 "Server is busy"`, 3_000],
    [{ text: 'Token disabled', code: 1 }, 'refused', `answered 200, Splunk's code 1 "Token disabled": the token is disabled`, 3_000],
    [
      { accepted: 0, rejectedCount: 1, rejected: [{ index: 0, line: 1, reason: 'bad' }] },
      'refused',
      'refused 1 of 1 events, first: bad',
      null,
    ],
    [{ failed: 1 }, 'refused', 'refused some of 1 events', null],
  ])('that answers 200 with %j has not taken the batch', async (body, code, words, retryAfterMs) => {
    const answer = { status: 200, headers: { 'retry-after': '3' }, body: JSON.stringify(body) };
    const listener = await listen({ acks: false, fault: (_request, number) => (number <= 1 ? answer : null) });
    const sink = sinkTo(listener);
    await expect(sink.deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({
      code,
      retryAfterMs,
      message: expect.stringContaining(words),
    });
    expect(idsOf(listener)).toEqual([]);
    const any = await listen({ acks: false, fault: () => answer });
    expect(await sinkTo(any, { acceptAny: true }).deliver(sampleBatch(1), FOREVER)).toEqual(deliveredWhole(null));
  });

  describe('that refuses a request because of one event', () => {
    /** Splunk's answer to a request with one of these events: the first one is named, and none is taken. */
    const refusing =
      (code: number, ids: readonly string[], status = 400) =>
      ({ url, body }: { readonly url: string; readonly body: string }) => {
        const number = url.includes('/ack') ? -1 : eventsIn(body).findIndex(({ event }) => ids.includes(idOf(event)));
        const reaction = { status, body: JSON.stringify({ text: 'Invalid data format', code, 'invalid-event-number': number }) };
        return number < 0 ? null : reaction;
      };
    const aside = ({ refused }: Delivery, format: FeedFormatName = 'native') =>
      refused.map(({ line }) => eventIdIn(format, line.toString()));

    test.each([6, 7, 12, 13])('ends the delivery, and names the event (code %i)', async (code) => {
      const listener = await listen({ fault: refusing(code, ['e3']) });
      await expect(sinkTo(listener).deliver(sampleBatch(5), FOREVER)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringMatching(/invalid-event-number 3 of 5 events, e3; .*--rejected FILE$/),
      });
      expect(idsOf(listener)).toEqual([]);
    });

    test.each([
      [6, 400, ['e0'], 'native'],
      [7, 400, ['e2'], 'native'],
      [12, 400, ['e4'], 'native'],
      [13, 400, ['e0', 'e1', 'e3'], 'native'],
      [6, 200, ['e1', 'e4'], 'native'],
      [6, 400, ['e0', 'e1', 'e2', 'e3', 'e4'], 'native'],
      [6, 400, [`7:${SAMPLE_TIME + 2_000}:e2`], 'ecs'],
    ] as const)('has it set aside, and takes the others in order (code %i, status %i, %j, %s)', async (code, status, ids, format) => {
      const listener = await listen({ fault: refusing(code, ids, status) });
      const delivery = await sinkTo(listener, { setsAside: true, format }).deliver(sampleBatch(5, format), FOREVER);
      expect(aside(delivery, format)).toEqual(ids);
      expect(delivery.refused.map(({ reason }) => reason)).toEqual(ids.map((id) => expect.stringContaining(`events, ${id}`)));
      const all = sampleBatch(5, format).bytes.toString().trim().split('\n');
      const taken = all.map((line) => eventIdIn(format, line)).filter((id) => !ids.includes(id as never));
      expect(listener.events.map(({ event }) => idOf(event))).toEqual(taken);
      expect(told).toEqual([]);
    });

    test('takes few bytes more where every event is refused', async () => {
      const count = 500;
      const listener = await listen({ fault: refusing(6, expectedIds(count)) });
      const delivery = await sinkTo(listener, { setsAside: true }).deliver(sampleBatch(count), FOREVER);
      expect(aside(delivery)).toEqual(expectedIds(count));
      expect(listener.received).toHaveLength(count);
      const sent = listener.received.reduce((sum, { body }) => sum + eventsIn(body).length, 0);
      expect(sent).toBeLessThan(count * Math.log2(count) + count);
    });

    test.each([
      ['names none', {}],
      ['names one that is not in the request', { 'invalid-event-number': 5 }],
      ['names one below zero', { 'invalid-event-number': -1 }],
      ['names one by a text', { 'invalid-event-number': '1' }],
      ['names a half', { 'invalid-event-number': 1.5 }],
    ])('and %s, ends the delivery', async (_what, more) => {
      const listener = await listen({ fault: () => ({ status: 400, body: JSON.stringify({ text: 'Invalid', code: 6, ...more }) }) });
      await expect(sinkTo(listener, { setsAside: true }).deliver(sampleBatch(5), FOREVER)).rejects.toMatchObject({ code: 'refused' });
      expect(listener.received).toHaveLength(1);
    });

    test.each([
      [1, 'refused'],
      [9, 'unavailable'],
    ])('of another kind, ends the delivery, whatever it names (code %i)', async (code, kind) => {
      const listener = await listen({ fault: refusing(code, ['e1']) });
      await expect(sinkTo(listener, { setsAside: true }).deliver(sampleBatch(5), FOREVER)).rejects.toMatchObject({ code: kind });
    });

    test('that is too large by itself has it set aside', async () => {
      const fault = ({ body }: { readonly body: string }) => (body.includes('"e2"') ? TOO_LARGE : null);
      const listener = await listen({ fault });
      expect(aside(await sinkTo(listener, { setsAside: true }).deliver(sampleBatch(5), FOREVER))).toEqual(['e2']);
      expect(idsOf(listener)).toEqual(['e0', 'e1', 'e3', 'e4']);
    });
  });

  test('whose answers about acknowledgements fail has not accepted the batch', async () => {
    const listener = await listen({ fault: ({ url }) => (url.includes('/ack') ? { status: 503 } : null) });
    await expect(sinkTo(listener).deliver(sampleBatch(1), FOREVER)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('gets lines of CEF as texts', async () => {
    const listener = await listen();
    await sinkTo(listener, { format: 'cef' }).deliver(sampleBatch(2, 'cef'), FOREVER);
    expect(listener.events[1]).toMatchObject({ time: SAMPLE_TIME / 1_000 + 1, event: expect.stringMatching(/^CEF:0\|/) });
  });

  test('is spoken to behind TLS', async () => {
    const certificate = await testCertificate();
    const listener = await listen({ certificate });
    await sinkTo(listener, { client: createHttpClient(trustIn(certificate.cert)) }).deliver(sampleBatch(2), FOREVER);
    expect(idsOf(listener)).toEqual(expectedIds(2));
  });
});

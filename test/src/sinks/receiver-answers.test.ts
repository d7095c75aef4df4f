import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHttpClient } from '../../../src/sinks/http-exchange.ts';
import { httpSink } from '../../../src/sinks/http-sink.ts';
import { readAnswer } from '../../../src/sinks/receiver-answers.ts';
import { DeliveryError } from '../../../src/sinks/sink.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { httpListener, type Reaction } from './http-listener.ts';
import { sampleBatch } from './sample-events.ts';

const FOREVER = new AbortController().signal;
const EVENTS = 4;

interface Way {
  readonly acceptAny?: boolean;
  readonly setsAside?: boolean;
}

/** What becomes of four events at a real receiver with this answer: what the sink resolves with, or its error. */
async function deliveredTo(reaction: Reaction, { acceptAny = false, setsAside = false }: Way = {}) {
  const listener = await httpListener(() => reaction);
  onTestFinished(() => listener.stop());
  const sink = httpSink({
    url: listener.url,
    token: null,
    gzip: false,
    client: createHttpClient(null),
    now: Date.now,
    acceptAny,
    setsAside,
  });
  onTestFinished(() => sink.close());
  try {
    const { refused, expired } = await sink.deliver(sampleBatch(EVENTS), FOREVER);
    return {
      ids: refused.map(({ line }) => JSON.parse(line.toString()).logId as string),
      reasons: refused.map(({ reason }) => reason),
      expired,
    };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const { code, message, retryAfterMs } = error;
    return { code, message, retryAfterMs };
  }
}

const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reaction => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});
const text = (body: string | Buffer, type = 'text/plain', status = 200): Reaction => ({ status, headers: { 'content-type': type }, body });
const packed = (encoding: string, body: Buffer): Reaction => ({ status: 200, headers: { 'content-encoding': encoding }, body });

const INTAKE = { accepted: 0, duplicates: 0, expired: 0, repaired: 0, rejected: [], rejectedCount: 0 };
const rejection = (index: unknown, reason: unknown = `reason ${String(index)}`) => ({ index, line: Number(index) + 1, reason });
const item = (status: number, error?: unknown, action = 'index') => ({ [action]: { status, ...(error === undefined ? {} : { error }) } });

const DELIVERED = { ids: [], reasons: [], expired: 0 };

describe('an answer that means delivered:', () => {
  test.each<[string, Reaction]>([
    ['nothing', { status: 204 }],
    ['an empty text', text('')],
    ['blanks', text(' \r\n')],
    ['a word', text('ok')],
    ['a word that is called HTML', text('ok', 'text/html; charset=utf-8')],
    ['a word that is called JSON', text('ok', 'application/json')],
    ['a text with a bracket in it', text('took <4> of {4}')],
    ['bytes that are no UTF-8', text(Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]))],
    ['XML', text('<?xml version="1.0"?><response>ok</response>', 'application/xml')],
    ['a long text', text('x'.repeat(8 * 1024 * 1024))],
    ['JSON of a word', json('ok')],
    ['JSON of a number', json(4)],
    ['JSON of null', json(null)],
    ['JSON of a list', json([{ status: 'ok' }])],
    ['an empty object', json({})],
    ['another object', json({ status: 'ok', took: 3, code: 200, message: 'error-free' })],
    ['an empty body that is called gzip', packed('gzip', gzipSync(''))],
    ['no content, though it is called gzip', { status: 204, headers: { 'content-encoding': 'gzip' } }],
    ['no body, though it is called br', { status: 200, headers: { 'content-encoding': 'br', 'content-length': '0' } }],
    ['nothing of any length, though it is called gzip', packed('gzip', Buffer.alloc(0))],
    ['nothing of any length, though it is called zstd', packed('zstd', Buffer.alloc(0))],
    ['a word, compressed with br', packed('br', brotliCompressSync('ok'))],
    ['documents of Quickwit', json({ num_docs_for_processing: 4, num_ingested_docs: 4, num_rejected_docs: 0 })],
    ['a list of parts without errors', json([{ status: 202 }, { status: 202 }])],
    ['success', json({ success: true, error: '', errors: [], failed: 0, rejected: 0, dropped: 0 })],
    ['errors that are none', json({ error: null, errors: {}, failed: '0', rejected: [], dropped: null })],
    ['errors that are counted as none', json({ errors: 0, error: false, failed: -1 })],
    ['parts without errors', json({ code: 200, status: [{ name: 'default', successful: 4, failed: 0, error: '' }] })],
    ['a status that is a word', json({ status: 'failed over' })],
    ['bulk without errors', json({ took: 3, errors: false, items: [item(201), item(200)] })],
    ['bulk whose events were there before', json({ errors: true, items: [item(409, { type: 'conflict' }, 'create'), item(201)] })],
    ['ours', json({ ...INTAKE, accepted: 4 }, 202)],
    ['ours of duplicates', json({ ...INTAKE, accepted: 4, duplicates: 4 }, 202)],
    ['ours of a store that does not know its duplicates', json({ ...INTAKE, accepted: 4, duplicates: null }, 202)],
    ['ours with a byte order mark', text(`\ufeff${JSON.stringify({ ...INTAKE, accepted: 4 })}`, 'application/json', 202)],
  ])('%s', async (_what, reaction) => {
    expect(await deliveredTo(reaction)).toEqual(DELIVERED);
    expect(await deliveredTo(reaction, { setsAside: true })).toEqual(DELIVERED);
  });

  test('ours with expired events, which are counted', async () => {
    expect(await deliveredTo(json({ ...INTAKE, accepted: 1, expired: 3 }, 202))).toEqual({ ...DELIVERED, expired: 3 });
  });
});

describe('an answer that means refused, and names the events:', () => {
  const shieldlog = { ...INTAKE, accepted: 2, rejectedCount: 2, rejected: [rejection(1), rejection(3, 'too long')] };
  test.each<[string, Reaction, readonly string[], readonly string[], number]>([
    ['ours', json(shieldlog, 202), ['e1', 'e3'], ['reason 1', 'too long'], 0],
    ['ours, compressed with gzip', packed('gzip', gzipSync(JSON.stringify(shieldlog))), ['e1', 'e3'], ['reason 1', 'too long'], 0],
    ['ours, compressed with zstd', packed('zstd', zstdCompressSync(JSON.stringify(shieldlog))), ['e1', 'e3'], ['reason 1', 'too long'], 0],
    [
      'ours, all of them',
      json({ ...INTAKE, rejectedCount: 4, rejected: [0, 1, 2, 3].map((index) => rejection(index)) }, 202),
      ['e0', 'e1', 'e2', 'e3'],
      ['reason 0', 'reason 1', 'reason 2', 'reason 3'],
      0,
    ],
    ['ours, beside expired ones', json({ ...INTAKE, expired: 3, rejectedCount: 1, rejected: [rejection(0)] }), ['e0'], ['reason 0'], 3],
    ['ours, without a reason', json({ ...INTAKE, rejectedCount: 1, rejected: [{ index: 2 }] }), ['e2'], ['it gives no reason'], 0],
    [
      'bulk',
      json({
        took: 1,
        errors: true,
        items: [item(201), item(400, { type: 'mapper', reason: 'no date' }), item(404, { type: 'no_index' }), item(200)],
      }),
      ['e1', 'e2'],
      ['no date', 'no_index'],
      0,
    ],
    [
      'bulk with errors of other forms',
      json({ errors: true, items: [item(400, 'bad'), item(413), item(200, { reason: 5 }), item(409, { type: 'conflict' })] }),
      ['e0', 'e1', 'e2', 'e3'],
      ['bad', 'status 413', 'status 200', 'conflict'],
      0,
    ],
    ['bulk with 207', json({ errors: true, items: [item(201), item(201), item(400, 'bad'), item(201)] }, 207), ['e2'], ['bad'], 0],
  ])('%s', async (_what, reaction, ids, reasons, expired) => {
    expect(await deliveredTo(reaction, { setsAside: true })).toEqual({ ids, reasons, expired });
    const stopped = await deliveredTo(reaction);
    expect(stopped).toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`refused ${ids.length} of 4 events, first: ${reasons[0]}`),
    });
    expect(stopped.message).toMatch(/^POST http:\S+ answered 20\d .*have such events set aside with --rejected FILE$/);
    expect(await deliveredTo(reaction, { acceptAny: true })).toEqual(DELIVERED);
  });
});

describe('an answer that means refused, and does not name each event:', () => {
  test.each<[string, Reaction, string]>([
    [
      'ours, more than it lists',
      json({ ...INTAKE, rejectedCount: 3, rejected: [rejection(0)] }, 202),
      'refused 3 of 4 events, first: reason 0; it names only 1',
    ],
    [
      'ours, none listed',
      json({ ...INTAKE, rejectedCount: 3 }, 202),
      'refused 3 of 4 events, first: it gives no reason; it does not say which',
    ],
    ['ours, without a list', json({ accepted: 1, rejectedCount: 3 }, 202), 'refused 3 of 4'],
    [
      'ours, an index past the last',
      json({ ...INTAKE, rejectedCount: 1, rejected: [rejection(4)] }, 202),
      'refused 1 of 4 events, first: reason 4',
    ],
    ['ours, an index below zero', json({ ...INTAKE, rejectedCount: 1, rejected: [rejection(-1)] }, 202), 'refused 1 of 4'],
    ['ours, a text for an index', json({ ...INTAKE, rejectedCount: 1, rejected: [rejection('1')] }, 202), 'refused 1 of 4'],
    ['ours, one index twice', json({ ...INTAKE, rejectedCount: 2, rejected: [rejection(1), rejection(1)] }, 202), 'refused 2 of 4'],
    ['ours, which counts less than it lists', json({ ...INTAKE, rejectedCount: 1, rejected: [rejection(1), null] }, 202), 'refused 2 of 4'],
    ['bulk of another number of items', json({ errors: true, items: [item(201), item(400, 'bad')] }), 'refused 1 of 4 events, first: bad'],
    [
      'bulk without a failed item',
      json({ errors: true, items: [item(201), item(201)] }),
      'refused some of 4 events, first: "errors":true, but',
    ],
    ['bulk without items', json({ errors: true }), '"errors", {"errors":true}'],
    ['bulk of broken items', json({ errors: true, items: [null, 7, [], {}] }), 'refused some of 4'],
    ['207', { status: 207 }, 'answered 207 and refused some of 4 events, first: Multi-Status'],
    ['207 with a text', text('ok', 'text/plain', 207), 'Multi-Status, ok'],
    ['a page', text('<!DOCTYPE html>\n<html><body>Sign in</body></html>', 'text/html'), 'an HTML page, <!DOCTYPE html> <html>'],
    ['a page that is called a text', text('\ufeff\n<HTML><p>Sign in</p>'), 'an HTML page'],
    ['a part of a page', text('Please <a href="/login">sign in</a>', 'text/html; charset=utf-8'), 'an HTML page'],
    ['no success', json({ success: false, message: 'quota' }), '"success":false, quota'],
    ['an error', json({ error: 'quota exceeded' }), '"error", {"error":"quota exceeded"}'],
    ['an error that is an object', json({ error: { code: 7 } }), '"error"'],
    ['an error that is true', json({ error: true }), '"error"'],
    ['a list of errors', json({ errors: ['a', 'b'], message: 'two are wrong' }), '"errors", two are wrong'],
    ['a number of errors', json({ errors: 2 }), '"errors"'],
    ['failed', json({ failed: 1 }), '"failed"'],
    ['failed, as a text', json({ failed: '3' }), '"failed"'],
    ['rejected', json({ rejected: 1 }), '"rejected"'],
    ['rejected, as a list', json({ accepted: 2, rejected: [{ index: 0 }] }), '"rejected"'],
    ['dropped', json({ dropped: 0.5 }), '"dropped"'],
    [
      'a failed part',
      json({
        code: 200,
        status: [
          { name: 'a', failed: 0 },
          { name: 'b', successful: 1, failed: 3, error: '' },
        ],
      }),
      '"failed"',
    ],
    ['a part with an error', json({ status: [{ error: 'no stream' }] }), '"error"'],
    ['a dropping part, compressed', packed('gzip', gzipSync('{"status":[{"dropped":1}]}')), '"dropped"'],
    [
      'rejected documents of Quickwit',
      json({ num_docs_for_processing: 4, num_ingested_docs: 1, num_rejected_docs: 3 }),
      'num_rejected_docs',
    ],
    ['a list of parts, one with an error', json([{ status: 202 }, { status: 400, error: 'too long' }]), '"error", [{"status":202}'],
    ['failed, compressed with br', packed('br', brotliCompressSync('{"failed":1}')), '"failed"'],
    ['failed, compressed with deflate', packed('deflate', deflateSync('{"failed":1}')), '"failed"'],
    ['failed, compressed with x-gzip', packed('X-GZip', gzipSync('{"failed":1}')), '"failed"'],
    ['an encoding that is not known', packed('dcb', Buffer.from('x')), 'is in Content-Encoding dcb, which is not read'],
    ['several encodings', packed('gzip, br', Buffer.from('x')), 'is in Content-Encoding gzip, br, which is not read'],
    ['JSON that is cut', text('{"accepted":0,"rejectedCou', 'application/json', 202), 'JSON that is cut or broken, {"accepted":0'],
    ['failed, with a byte order mark', text('\ufeff{"failed":1}'), '"failed"'],
    [
      'failed, with bytes that are no UTF-8',
      text(Buffer.from([...Buffer.from('{"failed":1,"why":"'), 0xff, ...Buffer.from('"}')])),
      '"failed"',
    ],
    ['failed, in a long answer', text(`{"failed":1,"more":"${'x'.repeat(4 * 1024 * 1024)}"}`), '"failed"'],
    [
      'an error that is nested deeply',
      text(`{"error":${'['.repeat(100_000)}${']'.repeat(100_000)},"message":${'['.repeat(9_000)}${']'.repeat(9_000)}}`),
      '"error"',
    ],
  ])('%s', async (_what, reaction, words) => {
    for (const setsAside of [false, true]) {
      const outcome = await deliveredTo(reaction, { setsAside });
      expect(outcome).toMatchObject({ code: 'refused', message: expect.stringContaining(words) });
      expect(outcome.message?.length).toBeLessThan(900);
    }
    expect(await deliveredTo(reaction, { acceptAny: true })).toEqual(DELIVERED);
  });
});

describe('an answer that means again:', () => {
  test.each<[string, Reaction, string, number | null]>([
    [
      'bulk with an item of 429',
      json({ errors: true, items: [item(201), item(429, { reason: 'queue full' })] }),
      'did not take 1 of 4 events: queue full',
      null,
    ],
    ['bulk with an item of 503', json({ errors: true, items: [item(503), item(201), item(201), item(201)] }), 'status 503', null],
    ['bulk with refused items before it', json({ errors: true, items: [item(400, 'bad'), item(500)] }), 'did not take', null],
    ['bulk that says when', json({ errors: true, items: [item(429, 'slow')] }, 200, { 'retry-after': '7' }), 'slow', 7_000],
    ['one that is cut off', 'cut', 'the connection to', null],
    ['one that is called gzip and is not', packed('gzip', Buffer.from('{"failed":1}')), 'the connection to', null],
  ])('%s', async (_what, reaction, words, retryAfterMs) => {
    for (const setsAside of [false, true]) {
      const expected = { code: 'unavailable', message: expect.stringContaining(words), retryAfterMs };
      expect(await deliveredTo(reaction, { setsAside })).toEqual(expected);
    }
    expect(await deliveredTo(reaction, { acceptAny: true })).toEqual(DELIVERED);
  });

  test('one that never ends is given up', async () => {
    const listener = await httpListener(() => 'endless');
    onTestFinished(() => listener.stop());
    const client = createHttpClient(null);
    onTestFinished(() => client.close());
    const asked = { method: 'POST', url: listener.url, headers: {}, signal: FOREVER, silenceMs: 60_000, maxAnswerBytes: 1_000 } as const;
    await expect(client.exchange({ ...asked, answerMs: 100 })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('its answer did not end within 0.1 s'),
    });
    await expect(client.exchange({ ...asked, answerMs: 100, isStatusEnough: true })).resolves.toMatchObject({ status: 200 });
  });
});

test('where the status alone counts, an answer that never ends, is too long or cannot be unpacked is enough', async () => {
  for (const reaction of ['endless', text('x'.repeat(17 * 1024 * 1024)), packed('br', Buffer.from('ok'))] as const) {
    expect(await deliveredTo(reaction, { acceptAny: true })).toEqual(DELIVERED);
  }
  expect(await deliveredTo({ status: 400, body: 'no' }, { acceptAny: true })).toMatchObject({ code: 'refused' });
  expect(await deliveredTo({ status: 503 }, { acceptAny: true })).toMatchObject({ code: 'unavailable' });
  expect(await deliveredTo({ status: 503, headers: { 'content-encoding': 'dcb' }, body: 'x' })).toMatchObject({ code: 'unavailable' });
});

describe('a refusal whose body cannot be unpacked is known by its status:', () => {
  test.each<[number, 'refused' | 'unavailable', number | null]>([
    [304, 'refused', null],
    [400, 'refused', null],
    [413, 'refused', null],
    [429, 'unavailable', 7_000],
    [503, 'unavailable', 7_000],
  ])('%d', async (status, code, retryAfterMs) => {
    for (const encoding of ['gzip', 'zstd', 'constructor']) {
      const headers = { 'content-encoding': encoding, ...(retryAfterMs === null ? {} : { 'retry-after': '7' }) };
      const outcome = await deliveredTo({ status, headers, body: 'none' });
      expect(outcome).toMatchObject({ code, message: expect.stringContaining(String(status)), retryAfterMs });
    }
  });
});

test('any answer is read to one of four meanings, and names events of the request alone', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(0, 1, 3, '', 'x', true, false, null, [], {}));
  const members = fc.dictionary(
    fc.constantFrom(
      'accepted',
      'rejectedCount',
      'rejected',
      'expired',
      'errors',
      'items',
      'error',
      'success',
      'failed',
      'dropped',
      'status',
    ),
    fc.oneof(
      value,
      fc.array(fc.record({ index: fc.oneof(fc.integer({ min: -1, max: 5 }), value), reason: value }), { maxLength: 5 }),
      fc.array(
        fc.dictionary(fc.constantFrom('create', 'index'), fc.record({ status: fc.constantFrom(200, 400, 409, 429, 'x'), error: value })),
        {
          maxLength: 5,
        },
      ),
    ),
  );
  const index = fc.integer({ min: 0, max: EVENTS });
  const intake = fc.uniqueArray(index, { maxLength: EVENTS }).map((indexes) => {
    return { ...INTAKE, rejectedCount: indexes.length, rejected: indexes.map((each) => rejection(each)) };
  });
  const items = fc.array(fc.constantFrom(item(201), item(400, 'bad'), item(409, 'there', 'create')), { minLength: 3, maxLength: 5 });
  const body = fc.oneof(
    intake.map((each) => Buffer.from(JSON.stringify(each))),
    items.map((each) => Buffer.from(JSON.stringify({ errors: true, items: each }))),
    members.map((each) => Buffer.from(JSON.stringify(each))),
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
  );
  const lines = sampleBatch(EVENTS).bytes;
  let named = 0;
  assertProperty(
    fc.property(body, fc.constantFrom(200, 202, 207), fc.boolean(), (bytes, status, setsAside) => {
      const asked = { request: 'POST x', answer: { status, headers: {}, body: bytes }, lines, setsAside, nowMs: 0 };
      try {
        const { refused, expired } = readAnswer(asked);
        named += refused.length;
        expect(refused.every(({ line, reason }) => lines.includes(line) && reason !== '')).toBe(true);
        expect(new Set(refused.map(({ line }) => String(line))).size).toBe(refused.length);
        expect(refused.length === 0 || setsAside).toBe(true);
        expect(expired).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(DeliveryError);
      }
    }),
  );
  expect(named).toBeGreaterThan(0);
});

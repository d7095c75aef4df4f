import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

/** As pzstd writes it: the size of the next frame. */
const SKIPPABLE_FRAME = Buffer.from('502a4d180400000001000000', 'hex');

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

const total = async (zone = 7): Promise<number> => (await search(app, lastHour(), {}, zone)).body.total;
const lines = (count: number): string => Array.from({ length: count }, (_, index) => eventLine({ logId: `e${index}` })).join('');
const halves = (text: string): readonly string[] => [text.slice(0, 50), text.slice(50)];
const asArray = (ndjson: string): string => `[${ndjson.trim().split('\n').join(',\n')}]`;

describe('POST /ingest/events', () => {
  test.each([
    ['NDJSON', lines(3), {}],
    ['a JSON array', asArray(lines(3)), { 'content-type': 'application/json' }],
    ['a JSON array that calls itself lines', asArray(lines(3)), {}],
    ['NDJSON in gzip', gzipSync(lines(3)), { 'content-encoding': 'gzip' }],
    ['NDJSON in zstd', zstdCompressSync(lines(3)), { 'content-encoding': 'zstd' }],
    ['NDJSON in gzip that does not say so', gzipSync(lines(3)), {}],
    ['NDJSON in gzip that says nothing but an empty word', gzipSync(lines(3)), { 'content-encoding': ' ' }],
    ['padded gzip members that do not say so', Buffer.concat([...halves(lines(3)).map((half) => gzipSync(half)), Buffer.alloc(9)]), {}],
    ['an array in zstd that does not say so', zstdCompressSync(asArray(lines(3))), { 'content-type': 'application/json' }],
    ['zstd behind a frame to skip that does not say so', Buffer.concat([SKIPPABLE_FRAME, zstdCompressSync(lines(3))]), {}],
    ['gzip without a type that does not say so', gzipSync(lines(3)), { 'content-type': 'text/plain' }],
    ['lines without a last line break', lines(3).trimEnd(), { 'content-type': 'text/plain' }],
  ])('takes %s', async (_what, body, headers) => {
    const answer = await ingest(app, body, headers);
    expect([answer.status, answer.body]).toEqual([
      202,
      { accepted: 3, duplicates: derived.duplicates(0), expired: 0, repaired: 0, rejected: [], rejectedCount: 0 },
    ]);
    expect(await total()).toBe(3);
  });

  test('takes nothing at all for no events', async () => {
    expect((await ingest(app, '')).body).toEqual({ accepted: 0, duplicates: 0, expired: 0, repaired: 0, rejected: [], rejectedCount: 0 });
  });

  test('stores an event once however often it is sent', async () => {
    const body = lines(5);
    for (let times = 0; times < 3; times += 1) expect((await ingest(app, body)).body.accepted).toBe(5);
    expect(await total()).toBe(5);
  });

  test('tells by index what it rejected and why, counts what is too old, and keeps the rest', async () => {
    const tooOld = eventLine({ timestamp: 1 });
    const body = `${eventLine({ logId: 'x' })}{"shieldZoneId":"seven"}\n${tooOld}not json\n${eventLine({ logId: 'y' })}`;
    const { body: report } = await ingest(app, body);
    expect(report).toMatchObject({ accepted: 2, expired: 1, rejectedCount: 2 });
    expect(report.rejected.map(({ index }: { index: number }) => index)).toEqual([1, 3]);
    expect(report.rejected[0].reason).toContain('shieldZoneId');
    expect(await total()).toBe(2);
  });

  test.each([
    ['a type that holds no events', 415, 'body.unsupported_type', { 'content-type': 'text/csv' }, 'a,b'],
    ['an encoding that is not known', 415, 'body.unsupported_type', { 'content-encoding': 'br' }, 'x'],
    ['data that are not gzip', 400, 'request.malformed', { 'content-encoding': 'gzip' }, 'not gzip'],
    ['gzip that is cut off', 400, 'request.malformed', { 'content-encoding': 'gzip' }, gzipSync(lines(50)).subarray(0, 90)],
    ['gzip that does not say so and is cut off', 400, 'request.malformed', {}, gzipSync(lines(50)).subarray(0, 90)],
    ['the first two bytes of gzip alone', 400, 'request.malformed', {}, Buffer.from([0x1f, 0x8b])],
    ['zstd that does not say so and is no frame', 400, 'request.malformed', {}, Buffer.from('28b52ffdffffffff', 'hex')],
    ['an array that is not closed', 400, 'request.malformed', {}, '[{"shieldZoneId":7}'],
    ['nothing acceptable', 406, 'accept.none', { accept: 'text/html' }, lines(1)],
  ])('refuses %s: %i', async (_what, status, errorKey, headers, body) => {
    const answer = await ingest(app, body, headers);
    expect([answer.status, answer.body.errorKey]).toEqual([status, errorKey]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });

  test('takes a body as it is where it says that it is not compressed', async () => {
    const { body } = await ingest(app, gzipSync(lines(1)), { 'content-encoding': 'identity' });
    expect(body).toMatchObject({ accepted: 0 });
    expect(body.rejectedCount).toBeGreaterThan(0);
  });

  test('names the position of bytes behind a gzip member, and how many events before them are stored', async () => {
    const member = gzipSync(lines(2));
    const padded = Buffer.concat([member, Buffer.alloc(5), Buffer.from('more')]);
    const { status, body } = await ingest(app, padded, { 'content-encoding': 'gzip' });
    expect([status, body.errorKey]).toEqual([400, 'request.malformed']);
    expect(body.detail).toContain(`at byte ${member.length + 5} of the compressed data`);
    expect(body.detail).toContain('before that 2 events were stored');
    expect(await total()).toBe(2);
  });

  const overLines = JSON.stringify(JSON.parse(eventLine({ logId: 'over lines' })), null, 2);
  const texts = `${asArray(lines(2))}\n${overLines}\n[${eventLine({ logId: 'z' }).trim()}]`;

  test.each([
    ['application/json', ''],
    ['application/vnd.events+json', ''],
    ['application/x-ndjson', '?source=file'],
  ])('takes arrays behind one another and objects over lines as %s%s', async (type, query) => {
    const init = { method: 'POST', body: `${texts}\n{"cut":[\n${eventLine({ logId: 'last' })}`, headers: { 'content-type': type } };
    const { body } = await ask(app, `/ingest/events${query}`, init);
    expect(body).toMatchObject({ accepted: 5, rejectedCount: 1, rejected: [{ index: 4 }] });
    expect(await total()).toBe(5);
  });

  test('takes an object a line as NDJSON, and where lines are asked for', async () => {
    const pretty = '{\n"shieldZoneId":7\n}\n';
    expect((await ingest(app, pretty)).body.rejectedCount).toBe(3);
    const init = { method: 'POST', body: pretty, headers: { 'content-type': 'application/json' } };
    expect((await ask(app, '/ingest/events?source=file&form=lines', init)).body.rejectedCount).toBe(3);
  });

  test('refuses query parameters that it does not have', async () => {
    const init = { method: 'POST', body: lines(1), headers: { 'content-type': 'text/plain' } };
    const { status, body } = await ask(app, '/ingest/events?sources=file', init);
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'sources', message: 'is not a query parameter of this path; allowed are source, form, mapping, zone' }],
    ]);
  });

  test('refuses a source that does not exist', async () => {
    const answer = await ask(app, '/ingest/events?source=kafka', {
      method: 'POST',
      body: lines(1),
      headers: { 'content-type': 'text/plain' },
    });
    expect([answer.status, answer.body.errors]).toEqual([400, [{ field: 'source', message: 'must be one of http, file, not "kafka"' }]]);
  });

  test('says what became of a body that breaks off, and answers on the same connection', async () => {
    const { status, body } = await ingest(app, `${asArray(lines(3)).slice(0, -1)},{"shieldZoneId"`);
    expect(status).toBe(400);
    expect(body.detail).toContain('3 events were stored');
    expect(await total()).toBe(3);
  });

  test('keeps what came whole of a client that goes away, and goes on', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const body = lines(2);
    socket.write(`POST /ingest/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length + 100}\r\n\r\n${body}`);
    await eventually('the request is being read', async () => (await ask(app, '/healthz')).status === 200);
    socket.destroy();
    await once(socket, 'close');
    expect((await ingest(app, eventLine({ logId: 'after' }))).body.accepted).toBe(1);
    expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('counts the events that were repaired, in the answer and in /metrics', async () => {
    const raw = Buffer.from(`${lines(2)}${eventLine({ logId: 'raw', url: '/caf\xe9' })}`, 'latin1');
    expect((await ingest(app, raw)).body).toEqual({
      accepted: 3,
      duplicates: derived.duplicates(0),
      expired: 0,
      repaired: 1,
      rejected: [],
      rejectedCount: 0,
    });
    const { text } = await ask(app, '/metrics');
    expect(text).toMatch(/^shieldlog_repaired_events_total\{source="http"\} 1$/m);
    expect((await search(app, lastHour())).body.rows).toContainEqual(expect.objectContaining({ fields: { url: '/caf\ufffd' } }));
  });

  test('counts in /metrics what it took in', async () => {
    await ingest(app, `${lines(2)}nonsense\n`);
    const { text } = await ask(app, '/metrics');
    expect(text).toContain('shieldlog_received_events_total{source="http",verdict="accepted"} 2');
    expect(text).toContain('shieldlog_received_events_total{source="http",verdict="rejected"} 1');
    expect(text).toMatch(/^shieldlog_dead_letters 1$/m);
  });
});

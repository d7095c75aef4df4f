import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

async function replay(body: string | undefined, headers: Readonly<Record<string, string>> = {}, query = ''): Promise<Answer> {
  return ask(app, `/ingest/dead-letters/replay${query}`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('dead letters', () => {
  beforeEach(async () => {
    app = await startApp();
  });

  afterEach(() => app.stop());

  test('are listed with their bytes, reason and source, page by page', async () => {
    const bad = Array.from({ length: 45 }, (_, index) => `bad ${index}\n`).join('');
    await ingest(app, Buffer.concat([Buffer.from(bad), Buffer.from([0xff, 0xfe, 0x0a])]));
    const seen: { id: string; text?: string; base64?: string; reason: string; source: string }[] = [];
    let query = '?limit=21';
    for (;;) {
      const { status, headers, body } = await ask(app, `/ingest/dead-letters${query}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      seen.push(...body.deadLetters);
      if (body.nextAfterId === null) break;
      query = `?limit=21&afterId=${body.nextAfterId}`;
    }
    expect(seen).toHaveLength(46);
    expect(seen.slice(0, 45).map(({ text }) => text)).toEqual(bad.trim().split('\n'));
    expect(seen[45]).toMatchObject({ base64: '//4=', source: 'http', topic: null, partition: null, offset: null });
    expect(seen.every(({ reason }) => reason !== '')).toBe(true);
  });

  test.each([
    ['of a megabyte, in characters of one to four bytes', `{"ab":"${'a\u00e9\u20ac\u{1f600}\\n\\u0007'.repeat(50_000)}"`],
    ['that begins with a byte order mark', '\ufeff{"a"'],
    ['that is empty but for a quote', '"'],
  ])('are listed whole where their text is one %s', async (_what, text) => {
    await ingest(app, `${text}\n`);
    const { body } = await ask(app, '/ingest/dead-letters');
    expect(body.deadLetters.map((letter: { text: string }) => letter.text === text)).toEqual([true]);
  });

  test('are listed whole where they are no text, however long', async () => {
    const bytes = Buffer.alloc(700_001, 0xc3);
    await ingest(app, Buffer.concat([bytes, Buffer.from('\n')]));
    const { body } = await ask(app, '/ingest/dead-letters');
    expect(Buffer.from(body.deadLetters[0].base64, 'base64').equals(bytes)).toBe(true);
  });

  test('are read a few at a time, and others have their turn in between', async () => {
    await ingest(app, Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(1_000_000)}\n`).join(''));
    const read: number[] = [];
    const turns: number[] = [];
    const list = app.store.listDeadLetters.bind(app.store);
    app.store.listDeadLetters = async (selection) => {
      const letters = await list(selection);
      read.push(letters.reduce((sum, { bytes }) => sum + bytes.length, 0));
      setImmediate(() => turns.push(read.length));
      return letters;
    };
    expect((await ask(app, '/ingest/dead-letters')).body.deadLetters).toHaveLength(9);
    expect(Math.max(...read)).toBeLessThan(6_000_000);
    // The last reading, which finds nothing more, may end behind the answer.
    expect(turns.length).toBeGreaterThan(1);
    expect(new Set(turns).size).toBe(turns.length);
  });

  test('that cannot be read are answered 500, and logged', async () => {
    app.store.listDeadLetters = () => {
      throw new Error('a defect');
    };
    expect((await ask(app, '/ingest/dead-letters')).status).toBe(500);
    expect(app.log.some(({ err }) => (err as { message: string } | undefined)?.message === 'a defect')).toBe(true);
  });

  test('are replayed, all or some; what is still wrong stays', async () => {
    await ingest(app, 'bad one\nbad two\n');
    const { body } = await ask(app, '/ingest/dead-letters');
    const one = await replay(JSON.stringify({ ids: [body.deadLetters[0].id] }), JSON_TYPE);
    expect([one.status, one.body]).toEqual([200, { replayed: 0, stillRejected: 1, notReplayable: 0 }]);
    expect((await replay('{"ids":[]}', JSON_TYPE)).body).toEqual({ replayed: 0, stillRejected: 0, notReplayable: 0 });
    expect((await app.store.stats()).deadLetters).toBe(2);
  });

  test.each([
    ['no body', undefined, {}],
    ['an empty body with a content type', '', JSON_TYPE],
    ['an empty object', '{}', JSON_TYPE],
    ['text/json', '{}', { 'content-type': 'text/json' }],
    ['a type that ends in +json', ' {} ', { 'content-type': 'application/vnd.example+json; charset=utf-8' }],
  ])('are all replayed for %s', async (_what, text, headers) => {
    await ingest(app, 'bad one\nbad two\n');
    const { status, body } = await replay(text, headers);
    expect([status, body]).toEqual([200, { replayed: 0, stillRejected: 2, notReplayable: 0 }]);
  });

  test('that were longer than an event say so in the listing and in a replay, which leaves them', async () => {
    await ingest(app, `${'x'.repeat(2_000_000)}\nbad one\n`);
    const { body } = await ask(app, '/ingest/dead-letters');
    const [long, short] = body.deadLetters;
    expect([long.replayable, long.sizeBytes, long.text]).toEqual([false, 2_000_000, 'x'.repeat(65_536)]);
    expect(long.sha256).toBe(createHash('sha256').update('x'.repeat(2_000_000)).digest('hex'));
    expect([short.replayable, short.sizeBytes, short.text]).toEqual([true, 7, 'bad one']);
    expect((await replay('{}', JSON_TYPE)).body).toEqual({ replayed: 0, stillRejected: 1, notReplayable: 1 });
    expect((await app.store.stats()).deadLetters).toBe(2);
  });

  test('are discarded, those named or all; nothing is by mistake', async () => {
    await ingest(app, Array.from({ length: 450 }, (_, index) => `bad ${index}\n`).join(''));
    const discard = (body?: string) =>
      ask(app, '/ingest/dead-letters/discard', { method: 'POST', headers: JSON_TYPE, ...(body === undefined ? {} : { body }) });
    const { body } = await ask(app, '/ingest/dead-letters?limit=2');
    const [first, second] = body.deadLetters;
    for (const wrong of [
      undefined,
      '',
      '{}',
      '{"ids":[1],"all":true}',
      '{"all":false}',
      '{"all":null}',
      '{"ids":null}',
      '[]',
      '{"id":[1]}',
    ]) {
      expect([wrong, (await discard(wrong)).status]).toEqual([wrong, 400]);
    }
    expect((await discard('{"ids":[]}')).body).toEqual({ discarded: 0 });
    expect((await discard(JSON.stringify({ ids: [first.id, second.id, second.id, derived.letterIds.unknown] }))).body).toEqual({
      discarded: 2,
    });
    expect((await discard('{"all":true}')).body).toEqual({ discarded: 448 });
    expect((await app.store.stats()).deadLetters).toBe(0);
  });

  test('past the quota are not kept, and the sender is told which', async () => {
    await app.stop();
    app = await startApp({ storeOptions: { deadLetterQuotaBytes: 100_000 } });
    const lines = Array.from({ length: 1_500 }, (_, index) => (index < 1_300 ? 'short' : `${index}${'x'.repeat(1_000)}`));
    const { status, body } = await ingest(app, `${eventLine()}${lines.join('\n')}\n`);
    expect([status, body.accepted, body.rejectedCount]).toEqual([202, 1, 1_500]);
    expect(body.rejected.slice(0, 1_000).every(({ kept }: { kept?: boolean }) => kept === undefined)).toBe(true);
    const lost = body.rejected.slice(1_000);
    const kept = (await app.store.stats()).deadLetters;
    expect([lost.length, lost[0], lost.at(-1).index]).toEqual([
      200 - (kept - 1),
      { index: 1_301 + kept - 1, line: 1_302 + kept - 1, reason: expect.any(String), kept: false },
      1_500,
    ]);
    // A second time, those that are kept are known, and the others are not kept again.
    expect((await ingest(app, `${lines.join('\n')}\n`)).body.rejected.slice(1_000)).toHaveLength(lost.length);
    expect((await app.store.stats()).deadLetters).toBe(kept);
  });

  test('past the quota are named where the upload breaks off, too', async () => {
    await app.stop();
    app = await startApp({ storeOptions: { deadLetterQuotaBytes: 1_000 } });
    const { status, body } = await ingest(app, `[1,"${'x'.repeat(2_000)}",`);
    expect([status, body.errorKey, body.detail]).toEqual([400, 'request.malformed', expect.stringContaining('1 are not kept')]);
    expect(body.errors).toEqual([{ field: '$[1]', message: expect.stringMatching(/^line 1: .*; it is not kept as a dead letter/) }]);
  });
});

describe('dead letters, by requests that are wrong,', () => {
  beforeAll(async () => {
    app = await startApp();
  });

  afterAll(() => app.stop());

  test.each([
    ['limit=0', 'limit'],
    ['limit=10001', 'limit'],
    ['limit=x', 'limit'],
    ['afterId=-1', 'afterId'],
    ['limit=1&limit=2', 'limit'],
  ])('are not listed for ?%s', async (query, field) => {
    const { status, body } = await ask(app, `/ingest/dead-letters?${query}`);
    expect([status, body.errorKey, body.errors[0].field]).toEqual([400, 'request.invalid', field]);
  });

  test('are not listed for several wrong parameters, which are all named', async () => {
    const { status, body } = await ask(app, '/ingest/dead-letters?limit=x&afterId=-1&after=5&odd%20name=1');
    expect([status, body.errors]).toEqual([
      400,
      [
        { field: 'afterId', message: `must be the id of a dead letter, ${app.store.deadLetterIds.allowed}, not "-1"` },
        { field: 'limit', message: 'must be a whole number 1..10000, not "x"' },
        { field: 'after', message: 'is not a query parameter of this path; allowed are afterId, limit' },
        { field: '["odd name"]', message: 'is not a query parameter of this path; allowed are afterId, limit' },
      ],
    ]);
  });

  test.each([
    ['[]', '$', 'must be an object with the properties ids, mapping, not an array'],
    ['5', '$', 'not 5'],
    ['null', '$', 'not null'],
    ['{"id":[1]}', 'id', 'is not a property of this object; allowed are ids, mapping'],
    ['{"mapping":"aws-waf"}', 'mapping', 'is only allowed with ids, the letters that it is for'],
    ['{"ids":[],"mapping":7}', 'mapping', 'or be left out, not 7'],
    ['{"ids":1}', 'ids', 'must be an array of ids of dead letters, or be left out for all of them, not 1'],
    ['{"ids":null}', 'ids', 'not null'],
    ['{"ids":["x"]}', 'ids[0]', 'not "x"'],
    ['{"ids":[-1]}', 'ids[0]', 'not -1'],
    ['{"ids":[1.5]}', 'ids[0]', 'not 1.5'],
    ['{"ids":[null]}', 'ids[0]', 'not null'],
    ['{"ids":[1,}', '$', 'must be JSON: expected a value at line 1, column 11 (offset 10), where there is "}"'],
    [' ', '$', 'must be JSON: expected a value'],
  ])('are not replayed for %s', async (text, field, message) => {
    await ingest(app, 'bad one\n');
    const { status, body } = await replay(text, JSON_TYPE);
    expect([status, body.errorKey, body.errors]).toEqual([400, 'request.invalid', [{ field, message: expect.stringContaining(message) }]]);
  });

  test('are not replayed for ids as a query parameter, which would be all of them', async () => {
    const { status, body } = await replay(undefined, {}, '?ids=5');
    expect([status, body.errors]).toEqual([400, [{ field: 'ids', message: 'is not a query parameter of this path; there are none' }]]);
  });

  test.each([
    [
      'a type that is not JSON',
      { 'content-type': 'text/plain' },
      'Content-Type: text/plain is not supported; allowed: application/json, text/json, application/*+json',
    ],
    ['another charset', { 'content-type': 'application/json; charset=utf-16' }, 'The charset "utf-16" is not supported; allowed: utf-8'],
    [
      'a body that is compressed',
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
      'Content-Encoding: gzip is not supported here; allowed: identity',
    ],
  ])('are not replayed for %s: 415', async (_what, headers, detail) => {
    const { status, body } = await replay('{}', headers);
    expect([status, body.errorKey, body.detail]).toEqual([415, 'body.unsupported_type', detail]);
  });

  test('are not replayed for more than a mebibyte: 413', async () => {
    const { status, body } = await replay(' '.repeat(1024 * 1024 + 1), JSON_TYPE);
    expect([status, body.errorKey, body.detail]).toEqual([
      413,
      'body.too_large',
      'The request body has more than 1048576 bytes; allowed: at most 1048576 bytes',
    ]);
  });
});

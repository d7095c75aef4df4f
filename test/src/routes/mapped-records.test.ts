import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { ask, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const MAPPING = `
timestamp: {path: t, time: unix}
zone: {path: site, table: {shop: 7, blog: 8, wrong: 9}}
id: n
ua: ua
items: records
leaveOut: {path: skip, table: {yes: 'true'}}
`;
const KEYS = { all: 'all-all-all-all-all', seven: 'seven-seven-seven', two: 'two-two-two-two-two', shipper: 'shipper-shipper-7' };

let app: RunningApp;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-mappings-'));
  writeFileSync(join(folder, 'own.yaml'), MAPPING);
  const keys = `all:${KEYS.all}:*,seven:${KEYS.seven}:7,two:${KEYS.two}:7+8,shipper:${KEYS.shipper}:7:ingest:own`;
  app = await startApp({ env: { MAPPINGS: folder, ACCESS_KEYS: keys } });
});

afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

let number = 0;
/** A record with an id of its own. */
function record(rest: object = {}): { readonly [name: string]: unknown; readonly n: string } {
  number += 1;
  return { t: Date.now() - 60_000, n: `n${number}`, ...rest };
}

async function send(query: string, body: string, key: keyof typeof KEYS = 'all', type = 'application/x-ndjson') {
  const headers = { 'content-type': type, accesskey: KEYS[key] };
  return await ask(app, `/ingest/events?${query}`, { method: 'POST', body, headers });
}

const lines = (...records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join('');

/** What a search finds of an id. */
async function found(zone: number, logId: string) {
  const { body } = await search(app, lastHour({ pageSize: 1000 }), { accesskey: KEYS.all }, zone);
  return body.rows.find((row: { logId: string }) => row.logId === logId);
}

describe('records of other products by HTTP', () => {
  test('become events of the zone that their mapping has, with the record as their log', async () => {
    const one = record({ site: 'shop', ua: 'curl' });
    const { status, body } = await send('mapping=own', lines(one));
    expect([status, body]).toEqual([
      202,
      { accepted: 1, duplicates: derived.duplicates(0), expired: 0, repaired: 0, rejected: [], rejectedCount: 0, leftOut: 0 },
    ]);
    expect(await found(7, one.n)).toMatchObject({ timestamp: one['t'], fields: { ua: 'curl' }, log: one });
  });

  test('are told apart by their places: rejected, left out, and too old ones', async () => {
    const body = `\n${lines(record({ site: 'shop' }), record({ site: 'nowhere' }), { skip: 'yes', t: 1 })}what\n${lines(
      record({ site: 'blog', t: 1_000_000_000 }),
      record({ site: 'shop', t: Date.now() + 3_600_000 }),
      record({ site: 'blog' }),
    )}`;
    const { body: report } = await send('mapping=own', body);
    expect(report).toMatchObject({ accepted: 2, expired: 1, rejectedCount: 3, leftOut: 1 });
    expect(report.rejected).toEqual([
      {
        index: 1,
        line: 3,
        reason: 'the record has no zone: the mapping names none for "nowhere", and no other is given for all records',
      },
      { index: 3, line: 5, reason: 'the record is not JSON: unexpected "what" at byte 0' },
      { index: 5, line: 7, reason: expect.stringContaining('timestamp is') },
    ]);
  });

  test('count by themselves where they come in envelopes', async () => {
    const envelope = { records: [record({ site: 'shop' }), record(), record({ site: 'blog' })] };
    const { body } = await send('mapping=own', lines(envelope, record()));
    expect(body).toMatchObject({
      accepted: 2,
      rejectedCount: 2,
      rejected: [
        { index: 1, line: 1 },
        { index: 3, line: 2 },
      ],
    });
  });

  test.each([
    ['lines', 'application/x-ndjson', (texts: readonly string[]) => texts.join('\n')],
    ['an array', 'application/x-ndjson', (texts: readonly string[]) => `[${texts.join(',\n')}]`],
    ['JSON lines', 'application/json', (texts: readonly string[]) => texts.join('\n')],
    ['an array of JSON', 'application/json', (texts: readonly string[]) => `[${texts.join(',\n')}]`],
    ['objects over lines', 'application/json', (texts: readonly string[]) => texts.join('\n').replaceAll(',', ',\n')],
    ['objects behind one another', 'application/json', (texts: readonly string[]) => texts.join('')],
  ])('come as %s', async (_, type, join) => {
    const all = Array.from({ length: 30 }, () => record({ site: 'shop', ua: 'x'.repeat(20_000) }));
    const { body } = await send('mapping=own', join(all.map((one) => JSON.stringify(one))), 'all', type);
    expect(body).toMatchObject({ accepted: 30, rejectedCount: 0 });
    expect(await found(7, String(all[29]?.n))).toMatchObject({ log: all[29] });
  });

  test('are stored once, however often they are sent', async () => {
    const body = lines(record({ site: 'shop' }), record({ site: 'blog' }));
    expect((await send('mapping=own', body)).body).toMatchObject({ accepted: 2, duplicates: derived.duplicates(0) });
    expect((await send('mapping=own', body)).body).toMatchObject({ accepted: 2, duplicates: derived.duplicates(2) });
  });

  test('are mapped, too, where they come slowly', async () => {
    const [one, other] = [record({ site: 'shop' }), record({ site: 'shop' })];
    const { readable, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    const headers = { 'content-type': 'application/x-ndjson', accesskey: KEYS.all };
    const answer = fetch(`${app.url}/ingest/events?mapping=own`, {
      method: 'POST',
      body: readable,
      headers,
      duplex: 'half',
    } as RequestInit);
    await writer.write(Buffer.from(lines(one)));
    await expect.poll(() => found(7, one.n)).toBeDefined();
    await writer.write(Buffer.from(lines(other)));
    await writer.close();
    expect(await (await answer).json()).toMatchObject({ accepted: 2 });
  });

  test.each<[string, string, keyof typeof KEYS, object, unknown]>([
    ['the one that is given, whatever the mapping says', 'mapping=own&zone=8', 'all', { site: 'shop' }, 8],
    ['that of the mapping', 'mapping=own', 'two', { site: 'blog' }, 8],
    ['the only one of the key', 'mapping=own', 'seven', {}, 7],
    ['none without one', 'mapping=own', 'two', {}, 'the record has no zone'],
    [
      'none that the key does not open',
      'mapping=own',
      'two',
      { site: 'wrong' },
      'of shield zone 9 for "wrong", which the access key does not open',
    ],
    [
      'none that the only zone of the key is not',
      'mapping=own',
      'seven',
      { site: 'blog' },
      'of shield zone 8 for "blog", which the access',
    ],
  ])('get as their zone %s', async (_, query, key, rest, zone) => {
    const [one, other] = [record(rest), record({ site: 'shop' })];
    const { status, body } = await send(query, lines(one, other), key);
    expect(status).toBe(202);
    if (typeof zone === 'number') {
      expect(await found(zone, one.n)).toBeDefined();
    } else {
      expect(body).toMatchObject({ accepted: 1, rejected: [{ index: 0, reason: expect.stringContaining(String(zone)) }] });
    }
  });

  test('leave a letter of the record, and none without a zone for a key of some', async () => {
    const late = { ...record({ site: 'shop' }), t: Date.now() + 3_600_000 };
    const none = record({ site: 'nowhere-else' });
    await send('mapping=own', lines(late, none), 'two');
    const letters = async (key: keyof typeof KEYS) =>
      (await ask(app, '/ingest/dead-letters?limit=1000', { headers: { accesskey: KEYS[key] } })).body.deadLetters;
    const of = (all: readonly { text: string; shieldZoneId: number; mapping: string }[], one: object) =>
      all.filter(({ text }) => text === JSON.stringify(one)).map(({ shieldZoneId, mapping }) => [shieldZoneId, mapping]);
    const everyLetter = await letters('all');
    expect([of(everyLetter, late), of(everyLetter, none)]).toEqual([[[7, 'own']], [[null, 'own']]]);
    const some = await letters('two');
    expect([of(some, late), of(some, none)]).toEqual([[[7, 'own']], []]);
  });

  test.each(['', 'mapping=own', 'zone=7', 'mapping=own&zone=7&source=file'])('are mapped as the key says, by ?%s', async (query) => {
    const one = record({ ua: 'curl' });
    const { status, body } = await send(query, lines(one, { shieldZoneId: 7, timestamp: Date.now(), logId: 'ours' }), 'shipper');
    expect([status, body]).toMatchObject([
      202,
      { accepted: 1, rejected: [{ index: 1, reason: expect.stringMatching(/^timestamp is absent/) }] },
    ]);
    expect(await found(7, one.n)).toMatchObject({ fields: { ua: 'curl' }, log: one });
  });

  test.each([
    ['another one', 'aws-waf', 'must be own, which the access key names, or be left out, not "aws-waf"'],
    ['one that there is not', 'other', expect.stringMatching(/^must be one of aws-waf, .*, own, not "other"$/)],
  ])('are refused by a key that names a mapping where the request names %s', async (_, mapping, message) => {
    const { status, body } = await send(`mapping=${mapping}`, lines(record()), 'shipper');
    expect([status, body]).toMatchObject([400, { errorKey: 'request.invalid', errors: [{ field: 'mapping', message }] }]);
  });

  test.each<[string, string, number, unknown]>([
    ['a zone that the key does not open', 'mapping=own&zone=8', 403, { errorKey: 'access.zone_denied' }],
    [
      'a mapping that there is not',
      'mapping=other',
      400,
      { errors: [{ field: 'mapping', message: expect.stringMatching(/^must be one of aws-waf, .*, own, not "other"$/) }] },
    ],
    ['a zone that is none', 'mapping=own&zone=x', 400, { errors: [{ field: 'zone', message: expect.stringContaining('not "x"') }] }],
    [
      'a zone without a mapping',
      'zone=7',
      400,
      { errors: [{ field: 'zone', message: 'is only allowed with mapping: an event of our own form has its shieldZoneId' }] },
    ],
  ])('are refused with %s', async (_, query, status, rest) => {
    const answer = await send(query, lines(record({ site: 'shop' })), 'seven');
    expect([answer.status, answer.body]).toMatchObject([status, rest]);
  });

  test.each<[string, string, string, number]>([
    ['an array that is cut off', 'application/json', '[RECORD,RECORD,{"t":', 2],
    ['more rejected records than are allowed', 'application/x-ndjson', `RECORD\n${'{}\n'.repeat(10_001)}RECORD`, 1],
    ['an envelope with more of them', 'application/x-ndjson', `RECORD\n{"records":[${Array(10_001).fill('{}').join()}]}\nRECORD`, 1],
    ['more bytes between elements than are allowed', 'application/json', `[RECORD${',,'.repeat(10_001)}`, 1],
  ])('that end with %s are stored up to there', async (_, type, text, stored) => {
    const body = text.replaceAll('RECORD', () => JSON.stringify(record({ site: 'shop' })));
    const answer = await send('mapping=own', body, 'all', type);
    expect([answer.status, answer.body.errorKey]).toEqual([400, 'request.malformed']);
    expect(answer.body.detail).toContain(`before that ${stored} events were stored`);
  });

  test('are counted by their mapping', async () => {
    const counts = async (): Promise<Record<string, number>> => {
      const { text } = await ask(app, '/metrics', { headers: { accesskey: KEYS.all } });
      const found = text.matchAll(/^shieldlog_mapped_records_total\{mapping="own",verdict="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...found].map(([, verdict, count]) => [verdict, Number(count)]));
    };
    const before = await counts();
    await send('mapping=own', lines(record({ site: 'shop' }), record({ site: 'shop', t: 1 }), record(), { skip: 'yes' }, { skip: 'yes' }));
    const after = await counts();
    const more = Object.fromEntries(Object.entries(after).map(([verdict, count]) => [verdict, count - (before[verdict] ?? 0)]));
    expect(more).toEqual({ accepted: 1, expired: 1, rejected: 1, left_out: 2 });
  });
});

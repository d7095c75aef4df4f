import { expect, onTestFinished, test } from 'vitest';
import { SharedDeadLetters } from '../../store/clickhouse/intake/dead-letters.ts';
import { migrateSchema } from '../../store/clickhouse/schema.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import type { DeadLetter } from '../../store/dead-letter.ts';
import { silentLogger } from '../../store/event-store.ts';
import { testDatabase } from './engine.ts';

const NOW = 1_760_000_000_000;

async function emptyLetters(quotaBytes = 1024 ** 2): Promise<SharedDeadLetters> {
  const { name, url } = await testDatabase();
  const address = { urls: [url], user: 'default', password: '', database: name };
  await migrateSchema(address);
  const client = new ClickhouseClient(address);
  onTestFinished(() => client.close());
  return new SharedDeadLetters({ client, quotaBytes, sharesEveryMs: 10_000, logger: silentLogger });
}

function letter(rest: Partial<DeadLetter> = {}): DeadLetter {
  const origin = { source: 'http', topic: null, partition: null, offset: null, zoneId: null };
  return { bytes: Buffer.from('{"x":'), cut: null, reason: 'it ends', ...origin, ...rest };
}

const ALL = { zones: 'all', limit: 100 } as const;

test('a letter comes back as it was, whatever its bytes and texts are', async () => {
  const letters = await emptyLetters();
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const reason = `quote ' " \\ tab\t newline\n NUL\0 line separator\u2028 emoji 🛡 `;
  const origin = { source: 'kafka', mapping: 'aws-waf', topic: "t'\\x", partition: 2 ** 31 - 1, offset: 2n ** 63n - 1n };
  const given = letter({ bytes, reason, ...origin, zoneId: -5 });
  expect(await letters.add([given], NOW)).toEqual([]);
  const [stored, ...others] = await letters.list(ALL);
  expect(others).toEqual([]);
  const { cut: _, ...rest } = given;
  expect(stored).toMatchObject({ ...rest, bytes, receivedAtMs: NOW, sizeBytes: 256, isWhole: true });
  expect(stored?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(stored?.id).toMatch(/^[0-9a-f]{32}$/);
});

test('a message is kept once, by how many processes ever it is stored', async () => {
  const letters = await emptyLetters();
  await letters.add([letter(), letter({ zoneId: 7 }), letter()], NOW);
  await letters.add([letter()], NOW + 1);
  await Promise.all([letters.add([letter({ reason: 'one' })], NOW + 2), letters.add([letter({ bytes: Buffer.from('other') })], NOW + 2)]);
  const listed = await letters.list(ALL);
  expect(listed.map(({ zoneId, bytes }) => [zoneId, bytes.toString()])).toEqual([
    [null, '{"x":'],
    [7, '{"x":'],
    [null, 'other'],
  ]);
  expect(await letters.count()).toBe(3);
});

test('letters of one message are told apart by their index, however often it is delivered', async () => {
  const letters = await emptyLetters();
  const ofMessage = { source: 'kafka', topic: 't', partition: 0, offset: 1n };
  for (let delivery = 0; delivery < 2; delivery++) {
    await letters.add([letter(ofMessage), letter({ ...ofMessage, index: 0 }), letter({ ...ofMessage, index: 70_000 })], NOW);
  }
  expect((await letters.list(ALL)).map(({ offset, index }) => [offset, index])).toEqual([
    [1n, null],
    [1n, 0],
    [1n, 70_000],
  ]);
});

test('letters of the same bytes are told apart by their mapping, also in a table of an earlier version', async () => {
  const { name, url } = await testDatabase();
  const address = { urls: [url], user: 'default', password: '', database: name };
  await migrateSchema(address);
  const client = new ClickhouseClient(address);
  onTestFinished(() => client.close());
  const letters = new SharedDeadLetters({ client, quotaBytes: 1024 ** 2, sharesEveryMs: 10_000, logger: silentLogger });
  await letters.add([letter()], NOW);
  for (const text of [
    'ALTER TABLE letters DROP COLUMN mapping',
    'TRUNCATE TABLE schema_versions',
    'INSERT INTO schema_versions VALUES (5, 0)',
  ]) {
    await client.run({ text, params: [] });
  }
  expect((await migrateSchema(address)).statements).toEqual([
    'ALTER TABLE letters ADD COLUMN IF NOT EXISTS mapping Nullable(String) AFTER itemIndex',
    expect.stringMatching(/^INSERT INTO schema_versions SELECT 6, /),
  ]);
  const mapped = ['nginx', 'aws-waf', null].map((mapping) => letter({ mapping }));
  for (let delivery = 0; delivery < 2; delivery++) await letters.add(mapped, NOW);
  expect((await letters.list(ALL)).map(({ mapping }) => mapping)).toEqual([null, 'nginx', 'aws-waf']);
});

test('what is left of a letter without its bytes has its mapping', async () => {
  const letters = await emptyLetters(1_200);
  const record = (offset: bigint) =>
    letter({ source: 'kafka', topic: 't', partition: 0, offset, zoneId: Number(offset), mapping: 'nginx' });
  await letters.add([{ ...record(1n), bytes: Buffer.alloc(700) }], NOW);
  await letters.add([record(2n)], NOW);
  expect((await letters.list(ALL)).map(({ offset, mapping, isWhole }) => [offset, mapping, isWhole])).toEqual([
    [1n, 'nginx', false],
    [2n, 'nginx', true],
  ]);
});

test('letters are listed by id, zone and number', async () => {
  const letters = await emptyLetters();
  await letters.add(
    [1, 2, 1, null].map((zoneId, index) => letter({ zoneId, bytes: Buffer.from(`${index}`) })),
    NOW,
  );
  const ids = (await letters.list(ALL)).map(({ id }) => id);
  expect(ids).toEqual([...ids].sort());
  const listed = async (selection: Parameters<SharedDeadLetters['list']>[0]) =>
    (await letters.list(selection)).map(({ id }) => ids.indexOf(id));
  expect(await listed({ zones: [1], limit: 10 })).toEqual([0, 2]);
  expect(await listed({ zones: [1, 2], limit: 2 })).toEqual([0, 1]);
  expect(await listed({ zones: 'all', limit: 2, afterId: ids[1] as string })).toEqual([2, 3]);
  expect(await listed({ zones: [2], ids: ids.slice(0, 2), limit: 10 })).toEqual([1]);
  expect(await listed({ zones: [], limit: 10 })).toEqual([]);
  expect(await listed({ zones: 'all', ids: [], limit: 10 })).toEqual([]);
});

test('a list ends where its letters are long, and goes on after the last', async () => {
  const letters = await emptyLetters(64 * 1024 ** 2);
  const bytes = (first: number) => Buffer.alloc(3 * 1024 ** 2, first);
  await letters.add(
    [1, 2, 3, 4].map((first) => letter({ bytes: bytes(first) })),
    NOW,
  );
  const first = await letters.list(ALL);
  expect(first.map((one) => one.bytes[0])).toEqual([1, 2]);
  expect((await letters.list({ ...ALL, afterId: first[1]?.id as string })).map((one) => one.bytes[0])).toEqual([3, 4]);
});

test('a removed letter is gone, and comes again with its message', async () => {
  const letters = await emptyLetters();
  await letters.add([letter(), letter({ bytes: Buffer.from('other') })], NOW);
  const [first] = await letters.list(ALL);
  expect(await letters.remove({ zones: 'all', ids: [first?.id as string], limit: 10 })).toBe(1);
  expect(await letters.remove({ zones: 'all', ids: [first?.id as string], limit: 10 })).toBe(0);
  expect((await letters.list(ALL)).map(({ bytes }) => bytes.toString())).toEqual(['other']);
  await letters.add([letter()], NOW);
  expect((await letters.list(ALL)).map(({ bytes }) => bytes.toString())).toEqual(['other', '{"x":']);
});

test('a message that comes again takes no room of the quota, in one batch or later', async () => {
  const letters = await emptyLetters(4_000);
  const [one, other] = [letter({ bytes: Buffer.alloc(1_000, 1) }), letter({ bytes: Buffer.alloc(1_000, 2) })];
  const large = letter({ source: 'kafka', topic: 't', partition: 0, offset: 1n, bytes: Buffer.alloc(3_000, 3) });
  expect(await letters.add([one, one, one, one, other, large, large], NOW)).toEqual([5, 6]);
  expect(await letters.add([other, one, large, other, letter({ bytes: Buffer.alloc(2_000, 4) })], NOW + 1)).toEqual([2, 4]);
  expect((await letters.list(ALL)).map(({ bytes }) => bytes[0])).toEqual([1, 2, undefined]);
});

test('beyond the quota the bytes of Kafka messages are not kept, and nothing of others', async () => {
  const letters = await emptyLetters(2_000);
  const ofKafka = letter({ source: 'kafka', topic: 't', partition: 0, offset: 1n, bytes: Buffer.alloc(900, 2) });
  expect(await letters.add([letter({ bytes: Buffer.alloc(900, 1) }), ofKafka, letter({ bytes: Buffer.alloc(900, 3) })], NOW)).toEqual([
    1, 2,
  ]);
  const listed = await letters.list(ALL);
  expect(listed.map(({ source, bytes, sizeBytes, isWhole }) => ({ source, kept: bytes.length, sizeBytes, isWhole }))).toEqual([
    { source: 'http', kept: 900, sizeBytes: 900, isWhole: true },
    { source: 'kafka', kept: 0, sizeBytes: 900, isWhole: false },
  ]);
});

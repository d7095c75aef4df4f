import { afterEach, describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { addKafkaMessage } from '../../../ingest/upload/message-events.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

const KEYS = { all: 'key-of-every-zone-1', some: 'key-of-two-zones-78', nine: 'key-of-zone-9-alone' } as const;
const ACCESS_KEYS = `all:${KEYS.all}:*,some:${KEYS.some}:7+8,nine:${KEYS.nine}:9`;
const HOUR_MS = 3_600_000;

/** The zone of each letter, null where none can be read, by what makes it one: later, the first three are events. */
const future = (shieldZoneId: number) => eventLine({ shieldZoneId, timestamp: Date.now() + HOUR_MS }).trim();
const LETTERS: readonly (readonly [zone: number | null, line: () => string])[] = [
  [7, () => future(7)],
  [8, () => future(8)],
  [9, () => future(9)],
  [7, () => '{"shieldZoneId":7}'],
  [null, () => 'broken'],
  [null, () => `{"shieldZoneId":7,"log":"${'x'.repeat(2_200_000)}"}`],
];

let app: RunningApp;
let now = Date.now;

afterEach(async () => {
  await app.stop();
  now = Date.now;
});

async function fill(source: 'http' | 'kafka'): Promise<void> {
  if (source === 'http') {
    const { body } = await ingest(app, `${LETTERS.map(([, line]) => line()).join('\n')}\n`, { accesskey: KEYS.all });
    expect(body.rejectedCount).toBe(LETTERS.length);
    return;
  }
  const builder = new BatchBuilder({ now: Date.now, retentionMs: 72 * HOUR_MS });
  for (const [offset, [, line]] of LETTERS.entries()) addKafkaMessage(builder, 'shield', 0, BigInt(offset), Buffer.from(line()));
  await app.store.append(builder.take());
}

async function start(source: 'http' | 'kafka', restarts: boolean): Promise<void> {
  const dataDir = temporaryFolder();
  const options = { env: { ACCESS_KEYS }, dataDir, now: () => now() };
  app = await startApp(options);
  await fill(source);
  if (restarts) {
    await app.stop();
    app = await startApp(options);
  }
}

async function zonesListed(key: keyof typeof KEYS, query = ''): Promise<(number | null)[]> {
  const { status, body } = await ask(app, `/ingest/dead-letters${query}`, { headers: { accesskey: KEYS[key] } });
  expect(status).toBe(200);
  return body.deadLetters.map(({ shieldZoneId }: { shieldZoneId: number | null }) => shieldZoneId);
}

async function change(key: keyof typeof KEYS, what: 'replay' | 'discard', body: unknown) {
  const headers = { accesskey: KEYS[key], 'content-type': 'application/json' };
  const answer = await ask(app, `/ingest/dead-letters/${what}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function everyId(): Promise<string[]> {
  const { body } = await ask(app, '/ingest/dead-letters', { headers: { accesskey: KEYS.all } });
  return body.deadLetters.map(({ id }: { id: number }) => id);
}

const CASES = (['http', 'kafka'] as const).flatMap((source) =>
  [false, true].map((restarts) => [source, restarts ? ', after a restart' : '', restarts] as const),
);

describe.each(CASES)('of the dead letters from %s%s', (source, _, restarts) => {
  test('a key lists those of its zones, and one of all zones every one', async () => {
    await start(source, restarts);
    expect(await zonesListed('all')).toEqual([7, 8, 9, 7, null, null]);
    expect(await zonesListed('some')).toEqual([7, 8, 7]);
    expect(await zonesListed('some', '?limit=2')).toEqual([7, 8]);
    expect(await zonesListed('nine')).toEqual([9]);
  });

  test('a key replays those of its zones, also where it names others', async () => {
    await start(source, restarts);
    const ids = await everyId();
    now = () => Date.now() + 2 * HOUR_MS;
    expect(await change('nine', 'replay', { ids: ids.filter((__, index) => index !== 2) })).toEqual({
      replayed: 0,
      stillRejected: 0,
      notReplayable: 0,
    });
    expect(await change('some', 'replay', { ids })).toEqual({ replayed: 2, stillRejected: 1, notReplayable: 0 });
    expect(await zonesListed('all')).toEqual([9, 7, null, null]);
    expect(await change('all', 'replay', {})).toEqual({ replayed: 1, stillRejected: 2, notReplayable: 1 });
    expect(await app.store.stats()).toMatchObject({ events: 3, deadLetters: 3 });
  });

  test('a key discards those of its zones, also where it names others', async () => {
    await start(source, restarts);
    const ids = await everyId();
    expect(await change('nine', 'discard', { ids: ids.filter((__, index) => index !== 2) })).toEqual({ discarded: 0 });
    expect(await change('some', 'discard', { ids: ids.slice(0, 3) })).toEqual({ discarded: 2 });
    expect(await change('nine', 'discard', { all: true })).toEqual({ discarded: 1 });
    expect(await zonesListed('all')).toEqual([7, null, null]);
    expect(await change('all', 'discard', { all: true })).toEqual({ discarded: 3 });
    expect((await app.store.stats()).deadLetters).toBe(0);
  });
});

test('a sender that fills the quota takes no room of what others send, and is told what is not kept', async () => {
  app = await startApp({ env: { ACCESS_KEYS }, storeOptions: { deadLetterQuotaBytes: 4 * 1024 ** 2 } });
  const late = (shieldZoneId: number, size: number) => eventLine({ shieldZoneId, timestamp: Date.now() + HOUR_MS, ua: 'x'.repeat(size) });
  const flood = [...Array.from({ length: 5 }, () => 900_000), ...Array.from({ length: 60 }, () => 20_000)];
  const first = await ingest(app, flood.map((size, index) => late(7, size + index)).join(''), { accesskey: KEYS.some });
  expect(first.body.rejected.filter(({ kept }: { kept?: boolean }) => kept === false).length).toBeGreaterThan(30);
  const other = await ingest(app, late(9, 50) + late(9, 900_000), { accesskey: KEYS.nine });
  expect(other.body.rejected.map(({ kept }: { kept?: boolean }) => kept)).toEqual([undefined, undefined]);
  const again = await ingest(app, late(7, 900_000) + late(8, 50), { accesskey: KEYS.some });
  expect(again.body.rejected.map(({ kept }: { kept?: boolean }) => kept)).toEqual([false, undefined]);
  expect(await zonesListed('nine')).toEqual([9, 9]);
});

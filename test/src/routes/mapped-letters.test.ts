import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const KEYS = { all: 'all-all-all-all-all', seven: 'seven-seven-seven', bound: 'bound-bound-bound' };
const JSON_TYPE = { 'content-type': 'application/json' };

let mappings: string;

beforeAll(() => {
  mappings = mkdtempSync(join(tmpdir(), 'shieldlog-mappings-'));
});

afterAll(() => rmSync(mappings, { recursive: true }));

/** A start of the program with a mapping whose table of zones has these lines; null: without the mapping. */
async function started(dataDir: string, table: string | null): Promise<RunningApp> {
  const file = join(mappings, 'own.yaml');
  if (table === null) rmSync(file);
  else writeFileSync(file, `timestamp: {path: t, time: unix}\nzone: {path: site, table: {${table}}}\nitems: records\n`);
  const env = { MAPPINGS: mappings, ACCESS_KEYS: `all:${KEYS.all}:*,seven:${KEYS.seven}:7,bound:${KEYS.bound}:*:ingest:aws-waf` };
  const app = await startApp({ env, dataDir });
  onTestFinished(() => app.stop());
  return app;
}

type Key = keyof typeof KEYS;

const send = async (app: RunningApp, body: string) =>
  (await ask(app, '/ingest/events?mapping=own', { method: 'POST', body, headers: { ...JSON_TYPE, accesskey: KEYS.all } })).body;
const replay = async (app: RunningApp, key: Key) =>
  (await ask(app, '/ingest/dead-letters/replay', { method: 'POST', headers: { accesskey: KEYS[key] } })).body;
const replayBy = (app: RunningApp, body: object, key: Key = 'all') =>
  ask(app, '/ingest/dead-letters/replay', { method: 'POST', body: JSON.stringify(body), headers: { ...JSON_TYPE, accesskey: KEYS[key] } });
const letters = async (app: RunningApp) =>
  (await ask(app, '/ingest/dead-letters', { headers: { accesskey: KEYS.all } })).body.deadLetters.map(
    ({ mapping, source, shieldZoneId, text }: Readonly<Record<string, unknown>>) => [mapping, source, shieldZoneId, text],
  );

test('records without a zone are mended by a line in the table, a start and a replay by a key of all zones', async () => {
  const dataDir = temporaryFolder();
  const [alone, item] = ['alone', 'item'].map((n) => JSON.stringify({ t: Date.now() - 60_000, site: 'shop', n }));
  const body = `${alone}\n{"records":[${item}]}`;
  const without = await started(dataDir, 'blog: 8');
  expect(await send(without, body)).toMatchObject({ accepted: 0, rejectedCount: 2 });
  const kept = [alone, item].map((text) => ['own', 'http', null, text]);
  expect(await letters(without)).toEqual(kept);
  expect(await replay(without, 'all')).toEqual({ replayed: 0, stillRejected: 2, notReplayable: 0 });
  await without.stop();

  const unnamed = await started(dataDir, null);
  expect(await replay(unnamed, 'all')).toEqual({ replayed: 0, stillRejected: 2, notReplayable: 0, missingMappings: ['own'] });
  expect(await letters(unnamed)).toEqual(kept);
  await unnamed.stop();

  const mended = await started(dataDir, 'blog: 8, shop: 7');
  expect(await replay(mended, 'seven')).toEqual({ replayed: 0, stillRejected: 0, notReplayable: 0 });
  expect(await replay(mended, 'all')).toEqual({ replayed: 2, stillRejected: 0, notReplayable: 0 });
  expect(await letters(mended)).toEqual([]);
  const { rows } = (await search(mended, lastHour(), { accesskey: KEYS.seven })).body;
  const ids = [alone, item].map((text) => createHash('sha256').update(String(text)).digest('hex').slice(0, 32));
  expect(rows.map(({ logId }: { logId: string }) => logId).sort()).toEqual(ids.sort());
  expect(rows.map(({ log }: { log: object }) => JSON.stringify(log)).sort()).toEqual([alone, item]);
  await send(mended, body);
  expect((await search(mended, lastHour(), { accesskey: KEYS.seven })).body.rows).toHaveLength(2);
});

test('records that came by a preset, or by no mapping, become events by a mapping that a replay names for them', async () => {
  const dataDir = temporaryFolder();
  const record = (requestId: string) =>
    JSON.stringify({ t: Date.now() - 60_000, timestamp: Date.now() - 60_000, site: 'shop', httpRequest: { requestId } });
  const sent = async (app: RunningApp, query: string, body: string) =>
    (await ask(app, `/ingest/events${query}`, { method: 'POST', body, headers: { ...JSON_TYPE, accesskey: KEYS.all } })).body;
  const app = await started(dataDir, 'blog: 8, shop: 7');
  expect(await sent(app, '?mapping=aws-waf', record('a'))).toMatchObject({ accepted: 0, rejectedCount: 1 });
  expect(await sent(app, '', record('b'))).toMatchObject({ accepted: 0, rejectedCount: 1 });
  expect((await letters(app)).map(([mapping]: readonly unknown[]) => mapping)).toEqual(['aws-waf', null]);
  const ids = (await ask(app, '/ingest/dead-letters', { headers: { accesskey: KEYS.all } })).body.deadLetters.map(
    ({ id }: { readonly id: string }) => id,
  );
  const { body: refused } = await replayBy(app, { mapping: 'own' });
  expect(refused.errors).toEqual([{ field: 'mapping', message: 'is only allowed with ids, the letters that it is for' }]);
  const { body: unknown } = await replayBy(app, { ids, mapping: 'none' });
  expect(unknown.errors[0].message).toMatch(/^must be one of .*own.*, or be left out, not "none"$/);
  const { body: ofBoundKey } = await replayBy(app, { ids, mapping: 'own' }, 'bound');
  expect(ofBoundKey.errors[0].message).toBe('must be aws-waf, which the access key names, or be left out, not "own"');
  expect((await replayBy(app, { ids, mapping: 'own' }, 'seven')).body).toEqual({ replayed: 0, stillRejected: 0, notReplayable: 0 });
  expect((await replayBy(app, { ids, mapping: 'own' })).body).toEqual({ replayed: 2, stillRejected: 0, notReplayable: 0 });
  expect(await letters(app)).toEqual([]);
  const { rows } = (await search(app, lastHour(), { accesskey: KEYS.seven })).body;
  expect(rows.map(({ log }: { log: { httpRequest: { requestId: string } } }) => log.httpRequest.requestId).sort()).toEqual(['a', 'b']);
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localResources } from '../../../edge/local/control-plane.ts';
import { openState } from '../../../edge/local/control-plane-state.ts';
import { exampleOf } from '../example-requests.ts';
import { type Answer, type Facade, startFacade } from './resource-calls.ts';

/**
 * The state of a program whose bots had their categories as texts, and whose access lists had none where they now have an empty
 * description. Made by `serve` of that program and these calls: bots 4, 6 and 8 were blocked in zone 7, ignored in zone 7 and allowed in
 * zone -8, script 1 got LOG_LEVEL.
 */
const WITH_TEXTS = gunzipSync(readFileSync(join(import.meta.dirname, 'control-plane-with-texts.sqlite.gz')));

const RESOURCES = localResources({ challengeResolver: null });

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-texts-'));
  writeFileSync(join(dataDir, 'control-plane.sqlite'), WITH_TEXTS);
});

afterEach(() => rmSync(dataDir, { recursive: true }));

const setAction = (facade: Facade, zone: number, bot: number, action: number): Promise<Answer> =>
  facade.call({ ...exampleOf(5), path: `/shield/shield-zone/${zone}/bot-categorization/bots/${bot}`, body: { action } });

function rows(sql: string): unknown {
  const db = openState(dataDir);
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

test('the fixture has texts', () => {
  expect(rows('SELECT category FROM bot WHERE id = 4')).toEqual([{ category: 'ai-crawler' }]);
});

test('categories that were texts are numbers after the next start, and after the one that follows', async () => {
  for (const _ of ['first', 'second']) {
    await using facade = await startFacade(RESOURCES, { dataDir });
    const categories: unknown[] = [];
    for (let bot = 1; bot <= 8; bot += 1) categories.push((await setAction(facade, 99, bot, 0)).body.data.category);
    expect(categories).toEqual([1, 1, 1, 2, 2, 4, 1, 6]);
  }
});

test('what was set before is still there', async () => {
  const before = rows('SELECT * FROM bot_action ORDER BY bot_id');
  await using facade = await startFacade(RESOURCES, { dataDir });
  expect(rows('SELECT * FROM bot_action ORDER BY bot_id')).toEqual(before);
  expect(before).toEqual([
    { shield_zone_id: 7, bot_id: 4, action: 1 },
    { shield_zone_id: 7, bot_id: 6, action: 3 },
    { shield_zone_id: -8, bot_id: 8, action: 2 },
  ]);
  const variable = { ...exampleOf(2), path: '/compute/script/1/variables', body: { Name: 'LOG_LEVEL' } };
  expect((await facade.call(variable)).body).toEqual({ Id: 2, Name: 'LOG_LEVEL', Required: false, DefaultValue: 'info' });
  const list = { ...exampleOf(12), path: '/shield/shield-zone/7/access-lists/12' };
  expect((await facade.call(list)).body.data).toMatchObject({ name: 'scanners', description: '' });
});

test('the tables of bots are then those of a new state', async () => {
  const columns = 'SELECT name, type, "notnull" FROM pragma_table_info(\'bot\') ORDER BY name';
  await (await startFacade(RESOURCES, { dataDir }))[Symbol.asyncDispose]();
  const migrated = [rows(columns), rows('SELECT * FROM bot')];
  rmSync(join(dataDir, 'control-plane.sqlite'));
  await (await startFacade(RESOURCES, { dataDir }))[Symbol.asyncDispose]();
  expect(migrated).toEqual([rows(columns), rows('SELECT * FROM bot')]);
});

test('a category that no program wrote becomes 0, None', async () => {
  const db = openState(dataDir);
  db.exec("UPDATE bot SET category = 'by hand' WHERE id = 3");
  db.close();
  await using facade = await startFacade(RESOURCES, { dataDir });
  expect((await setAction(facade, 99, 3, 0)).body.data).toMatchObject({ userAgentMatch: 'DuckDuckBot', category: 0 });
});

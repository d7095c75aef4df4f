import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSearch } from '../../query/compile-search.ts';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import type { SearchResult } from '../../query/search-result.ts';
import { readJournalStatement } from '../../sql/storage-statements.ts';
import { runStatement, startEngine } from '../../store/duckdb-engine.ts';
import { type OpenStore, openStore } from '../../store/open-store.ts';
import { GOLDEN_NOW, type GoldenCase, goldenThemes } from './golden-case.ts';
import { batchOf, GOLDEN_RETENTION_MS, goldenLines } from './golden-events.ts';
import { goldenText } from './golden-page.ts';
import { goldenStatements } from './golden-statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-golden-'));
let store: OpenStore;
let engine: DuckDBConnection;

/** Every second event lies in segments, the others in a hot table, so that each block of events is in both. */
beforeAll(async () => {
  store = await openStore({ dataDir: join(folder, 'data'), memoryLimitMb: 256, retentionMs: GOLDEN_RETENTION_MS, now: () => GOLDEN_NOW });
  const lines = goldenLines();
  await store.append(batchOf(lines.filter((_, place) => place % 2 === 0)));
  await store.sealNow();
  await store.append(batchOf(lines.filter((_, place) => place % 2 === 1)));

  const file = join(folder, 'events.ndjson');
  writeFileSync(file, Buffer.concat(batchOf(lines).lines));
  engine = await (await startEngine({ memoryLimitMb: 256, spillFolder: folder, threads: 1 })).connect();
  await runStatement(engine, readJournalStatement('events', file));
});

afterAll(async () => {
  engine.closeSync();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function compile({ request, zone }: GoldenCase): SearchPlan {
  return compileSearch(Buffer.from(JSON.stringify(request)), { zoneId: zone, nowMs: GOLDEN_NOW });
}

function expectAnswer(answer: SearchResult, expected: GoldenCase): void {
  expect(answer.total).toBe(expected.total);
  if (answer.kind === 'rows') {
    expect(answer.rows.map(({ logId }) => logId)).toEqual(expected.rows);
    const rows = new Map(answer.rows.map((row) => [row.logId, row]));
    expect(Object.fromEntries(Object.keys(expected.fields).map((id) => [id, rows.get(id)?.fields]))).toEqual(expected.fields);
    expect(Object.fromEntries(Object.keys(expected.logs).map((id) => [id, rows.get(id)?.logJson]))).toEqual(expected.logs);
    return;
  }
  expect(answer.groups.map(({ key, count }) => ({ key: Object.values(key), count }))).toEqual(
    expected.groups?.map(({ key, count }) => ({ key, count })),
  );
  for (const [place, { seen, context, sparkline }] of (expected.groups ?? []).entries()) {
    const group = answer.groups[place];
    expect(seen === undefined || [group?.firstSeen, group?.lastSeen]).toEqual(seen ?? true);
    expect(context === undefined || group?.context).toEqual(context ?? true);
    expect(sparkline === undefined || (group?.sparkline ?? null)).toEqual(sparkline === undefined ? true : sparkline);
  }
}

describe.each(goldenThemes())('$theme', ({ theme, cases }) => {
  const answered = cases.filter(({ errors }) => errors === undefined);
  const refused = cases.filter(({ errors }) => errors !== undefined);

  it('compiles to the plans and the SQL that are on file', async () => {
    const texts = answered.map((golden) => {
      const plan = compile(golden);
      return goldenText(golden, plan, goldenStatements(plan, golden));
    });
    await expect(`${texts.join('\n\n\n')}\n`).toMatchFileSnapshot(`plans/${theme}.txt`);
  });

  it.each(answered)('$name: the store answers', async (golden) => {
    expectAnswer(await store.search(compile(golden)), golden);
  });

  it.each(answered)('$name: the SQL on file answers', async (golden) => {
    const [first, second] = goldenStatements(compile(golden), golden);
    const firstRows = first === undefined ? [] : await runStatement(engine, first);
    const secondRows = second === undefined ? [] : await runStatement(engine, second);
    if (golden.rows !== undefined) {
      expect(firstRows.reduce((sum, [, events]) => sum + Number(events), 0)).toBe(golden.total);
      expect(secondRows.map(([, logId]) => logId)).toEqual(golden.rows);
      return;
    }
    const groups = firstRows.filter((row) => row.at(-1) !== null);
    expect(Number(firstRows[0]?.[0])).toBe(golden.total);
    expect(groups.map((row) => [...row.slice(1, -1), Number(row.at(-1))])).toEqual(golden.groups?.map(({ key, count }) => [...key, count]));
  });

  it.each(refused)('$name', (golden) => {
    const refusal = () => compile(golden);
    expect(refusal).toThrow(InvalidSearchError);
    try {
      refusal();
    } catch (error) {
      const { errors } = error as InvalidSearchError;
      expect(Object.fromEntries(errors.map(({ field, message }) => [field, message]))).toEqual(golden.errors);
    }
  });
});

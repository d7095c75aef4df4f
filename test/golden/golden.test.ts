import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidSearchError } from '../../query/request/request-errors.ts';
import { duckdbStatement } from '../../sql/dialect.ts';
import { eventsRelation } from '../../sql/events-relation.ts';
import { sql, unmarkText } from '../../sql/statement.ts';
import { startEngine } from '../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../store/embedded/duckdb/statement-runner.ts';
import { batchFileOf } from '../../store/parquet/batch-file.ts';
import { openTestStore, type TestStore } from '../fixtures/test-store.ts';
import { expectAnswer, planOf } from './golden-answer.ts';
import { GOLDEN_NOW, goldenThemes } from './golden-case.ts';
import { batchOf, GOLDEN_RETENTION_MS, goldenLines } from './golden-events.ts';
import { goldenText } from './golden-page.ts';
import { goldenStatements } from './golden-statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-golden-'));
let store: TestStore;
let engine: DuckDBConnection;

/** Every second event lies in segments, the others in a memtable, so that each block of events is in both. */
beforeAll(async () => {
  store = await openTestStore({
    dataDir: join(folder, 'data'),
    memoryLimitMb: 256,
    retentionMs: GOLDEN_RETENTION_MS,
    now: () => GOLDEN_NOW,
  });
  const lines = goldenLines();
  await store.append(batchOf(lines.filter((_, index) => index % 2 === 0)));
  await store.settle('flush');
  await store.append(batchOf(lines.filter((_, index) => index % 2 === 1)));

  const path = join(folder, 'events.parquet');
  const { fields, eventCount } = batchOf(lines);
  writeFileSync(path, Buffer.concat(batchFileOf(fields, eventCount, 1n)));
  engine = await (await startEngine({ memoryLimitMb: 256, spillFolder: folder, threads: 1 })).connect();
  const table = sql`CREATE TABLE events AS SELECT * FROM ${eventsRelation([{ path }], [], 0n)}`;
  await new StatementRunner(engine).run(duckdbStatement(table));
});

afterAll(async () => {
  engine.closeSync();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const themes = goldenThemes();
const answered = themes.filter(({ cases }) => cases.some(({ errors }) => errors === undefined));
const refused = themes.flatMap(({ cases }) => cases.filter(({ errors }) => errors !== undefined));

describe.each(answered)('$theme', ({ theme, cases }) => {
  const named = cases.map((golden) => [golden.name, golden] as const);

  it('compiles to the plans and the SQL that are on file', async () => {
    const texts = cases.map((golden) => {
      const plan = planOf(golden);
      return goldenText(golden, plan, goldenStatements(plan, golden));
    });
    await expect(`${texts.join('\n\n\n')}\n`).toMatchFileSnapshot(`plans/${theme}.txt`);
  });

  it.each(named)('%s: the store answers', async (_, golden) => {
    await expectAnswer(await store.search(planOf(golden)), golden);
  });

  it.each(named)('%s: the SQL on file answers', async (_, golden) => {
    const [first, second] = goldenStatements(planOf(golden), golden);
    const firstRows = first === undefined ? [] : await new StatementRunner(engine).run(first);
    const secondRows = second === undefined ? [] : await new StatementRunner(engine).run(second);
    if (golden.rows !== undefined) {
      expect(firstRows.reduce((sum, [, events]) => sum + Number(events), 0)).toBe(golden.total);
      expect(secondRows.map(([row]) => (JSON.parse(row as string) as string[])[1])).toEqual(golden.rows);
      return;
    }
    const groups = firstRows.filter((row) => row.at(-1) !== null);
    expect(Number(firstRows[0]?.[0])).toBe(golden.total);
    expect(groups.map((row) => ({ key: row.slice(1, -1).map((key) => unmarkText(key as string)), count: Number(row.at(-1)) }))).toEqual(
      golden.groups?.map(({ key, count }) => ({ key, count })),
    );
  });
});

describe('refused', () => {
  it.each(refused.map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
    let refusal: unknown;
    try {
      planOf(golden);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidSearchError);
    const { errors } = refusal as InvalidSearchError;
    expect(Object.fromEntries(errors.map(({ field, message }) => [field, message]))).toEqual(golden.errors);
  });
});

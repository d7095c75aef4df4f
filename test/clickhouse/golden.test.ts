import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchEvents } from '../../store/clickhouse/search/search.ts';
import { WITH_TOTAL } from '../../store/clickhouse/server/settings.ts';
import { expectAnswer, planOf } from '../golden/golden-answer.ts';
import { goldenThemes } from '../golden/golden-case.ts';
import { batchOf, goldenLines } from '../golden/golden-events.ts';
import { goldenText } from '../golden/golden-page.ts';
import { EventTable } from './event-table.ts';
import { goldenClickhouseStatements } from './golden-statements.ts';

let table: EventTable;

/** Every event has a later copy with another content, which is not merged away. */
beforeAll(async () => {
  table = await EventTable.open();
  const lines = goldenLines();
  await table.insert(batchOf(lines.filter((_, index) => index % 2 === 0)));
  await table.insert(batchOf(lines.filter((_, index) => index % 2 === 1)));
  await table.copyAll();
});

afterAll(() => table.close());

const answered = goldenThemes()
  .map(({ theme, cases }) => ({ theme, cases: cases.filter(({ errors }) => errors === undefined) }))
  .filter(({ cases }) => cases.length > 0);

describe.each(answered)('$theme', ({ theme, cases }) => {
  const named = cases.map((golden) => [golden.name, golden] as const);

  it('compiles to the SQL that is on file', async () => {
    const texts = cases.map((golden) => {
      const plan = planOf(golden);
      return goldenText(golden, plan, goldenClickhouseStatements(plan, golden));
    });
    await expect(`${texts.join('\n\n\n')}\n`).toMatchFileSnapshot(`../golden/plans-clickhouse/${theme}.txt`);
  });

  it.each(named)('%s: the reader answers', async (_, golden) => {
    await expectAnswer(await searchEvents(planOf(golden), table.source, undefined), golden);
  });

  it.each(named)('%s: the SQL on file answers', async (_, golden) => {
    const [first, second, third] = goldenClickhouseStatements(planOf(golden), golden);
    const { rows, rowsBeforeLimit } = await table.reader.read(first as never, { settings: WITH_TOTAL });
    expect(rowsBeforeLimit).toBe(golden.total);
    if (golden.rows !== undefined) {
      expect(rows.map(([, logId]) => logId)).toEqual(golden.rows);
      return;
    }
    const expected = golden.groups?.map(({ key, count }) => [...key, String(count)]) ?? [];
    const width = expected[0]?.length;
    expect(rows.map((row) => row.slice(0, width))).toEqual(expected);
    const keys = await table.reader.read(second as never, { settings: WITH_TOTAL });
    expect([keys.rows, keys.rowsBeforeLimit]).toEqual([expected, golden.total]);
    const facts = third === undefined ? [] : (await table.reader.read(third, {})).rows;
    expect(facts.map((row) => row.slice(0, width)).sort()).toEqual(expected.toSorted());
  });
});

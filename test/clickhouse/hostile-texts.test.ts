import { eventsOf } from '../../sql/clickhouse/events.ts';
import { groupFactsStatement, groupKeysStatement } from '../../sql/clickhouse/group-statements.ts';
import { searchEvents } from '../../store/clickhouse/search/search.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { batchOfTexts, planOfTexts } from '../golden/hostile-table.ts';
import { describeHostileTexts } from '../golden/hostile-texts.ts';
import { EventTable, TABLE } from './event-table.ts';

describeHostileTexts(async (texts) => {
  const table = await EventTable.open();
  await table.insert(batchOfTexts(texts));
  return {
    async find(fields) {
      const rows = await rowsOf(await searchEvents(planOfTexts(fields), table.source, undefined));
      return rows.map(({ logId }) => Number(logId)).sort((a, b) => a - b);
    },
    async groups(fields) {
      const plan = planOfTexts(fields);
      const { output } = plan;
      if (output.kind !== 'groups') {
        throw new Error('not a request for groups');
      }
      const page = await table.reader.read(groupKeysStatement(plan, output, eventsOf(TABLE)), {});
      const groups = page.rows.map((row) => ({ key: row.slice(0, -1) as string[], count: Number(row.at(-1)) }));
      const keys = groups.map(({ key }) => key);
      // Not as the whole of all groups, so that the keys are looked for.
      const facts = await table.reader.read(groupFactsStatement(plan, output, { keys, isWhole: false }, eventsOf(TABLE)), {});
      const counts = new Map(facts.rows.map((row) => [JSON.stringify(row.slice(0, output.by.length)), Number(row[output.by.length])]));
      return { groups, details: keys.map((key) => counts.get(JSON.stringify(key)) ?? 0) };
    },
    close: () => table.close(),
  };
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, type Moment } from '../../sql/clickhouse/events.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { sql } from '../../sql/statement.ts';
import { EventTable, TABLE } from './event-table.ts';

let table: EventTable;

/** Copies of one event by two writers, and another event of the second one. */
beforeAll(async () => {
  table = await EventTable.open();
  const rows = [
    [`'twice'`, 4096 * 100 + 7, `'first'`],
    [`'twice'`, 4096 * 200 + 9, `'second'`],
    [`'once'`, 4096 * 150 + 9, `'only'`],
  ];
  for (const [logId, seq, packed] of rows) {
    const columns = '"shieldZoneId", "timestamp", "logId", "seq", "packed", "unfolded"';
    await table.reader.run(`INSERT INTO "${TABLE}" (${columns}) VALUES (1, 1, ${logId}, ${seq}, ${packed}, false)`);
  }
});

afterAll(() => table[Symbol.dispose]());

test.each<[string, Moment | undefined, string[]]>([
  ['all there is', undefined, ['only', 'first']],
  ['what has a lower sequence', { beforeSeq: BigInt(4096 * 150), running: [] }, ['first']],
  ['what no running insert stored', { beforeSeq: 1n << 62n, running: [{ fromSeq: BigInt(4096 * 120), writer: 9 }] }, ['first']],
  [
    'a later copy, while the insert of the first is running',
    { beforeSeq: 1n << 62n, running: [{ fromSeq: 0n, writer: 7 }] },
    ['only', 'second'],
  ],
  ['nothing, while all inserts are running', { beforeSeq: 1n << 62n, running: [7, 9].map((writer) => ({ fromSeq: 0n, writer })) }, []],
])('a statement sees %s', async (_, moment, expected) => {
  const { rows } = await table.reader.read(
    clickhouseStatement(sql`SELECT "packed" FROM ${eventsOf(TABLE, moment)} WHERE true ORDER BY "logId"`),
    {},
  );
  expect(rows.flat()).toEqual(expected);
});

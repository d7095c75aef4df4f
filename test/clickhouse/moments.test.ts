import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { eventsOf, type Moment } from '../../sql/clickhouse/events.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { sql } from '../../sql/statement.ts';
import type { EventSource } from '../../store/clickhouse/search/event-reader.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { activeZonesOf, searchEvents } from '../../store/clickhouse/search/search.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
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

afterAll(() => table.close());

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

describe('an answer of several statements is of one moment', () => {
  /** A client that stores another event after each statement. */
  function sourceThatGrows(): EventSource {
    let stored = 0;
    const grown = async <T>(answer: Promise<T>): Promise<T> => {
      const rows = await answer;
      stored += 1;
      await table.insert(canonicalBatch([{ logId: `later-${stored}`, shieldZoneId: 2, timestamp: 5, country: 'DE' }]));
      return rows;
    };
    const { reader } = table;
    const client: EventSource['client'] = {
      read: (statement, options) => grown(reader.read(statement, options)),
      readRow: (statement, options) => grown(reader.readRow(statement, options)),
      holdResults: () => reader.holdResults(),
    };
    return { ...table.source, client };
  }

  const search: SearchPlan = {
    zones: [2],
    window: { fromMs: 0, toMs: 10 },
    where: { kind: 'everything' },
    page: { index: 0, size: 10 },
    output: { kind: 'groups', by: ['country'], buckets: 2 },
  };

  beforeAll(async () => {
    await table.insert(canonicalBatch([{ logId: 'known', shieldZoneId: 2, timestamp: 5, country: 'DE' }]));
  });

  test('a page of groups', async () => {
    const [{ events: before } = { events: 0 }] = await activeZonesOf(search.window, [2], table.source, undefined);
    const answer = await searchEvents(search, sourceThatGrows(), undefined);
    expect(answer).toMatchObject({ total: 1, groups: [{ key: { country: 'DE' }, count: before, sparkline: [0, before] }] });
  });

  test('an answer to a question of the explorer', async () => {
    const [{ events: before } = { events: 0 }] = await activeZonesOf(search.window, [2], table.source, undefined);
    const plan: ExplorePlan = {
      search,
      histogram: { buckets: 2, by: 'country' },
      facets: [{ field: 'country', limit: 5, order: 'difference' }],
      selection: { window: search.window, where: { kind: 'everything' } },
      combinations: [{ kind: 'equals', column: 'country', values: ['DE'], folded: true }, { kind: 'everything' }],
    };
    const answer = await exploreEvents(plan, sourceThatGrows(), undefined);
    expect(answer).toEqual({
      page: { kind: 'groups', total: 1, groups: [expect.objectContaining({ count: before })] },
      histogram: { series: [{ value: 'DE', total: before, counts: [0, before] }], other: null },
      facets: [{ field: 'country', distinct: 1, values: [{ value: 'DE', count: before, selected: before, spellings: 1 }] }],
      selectedTotal: before,
      combinations: [{ met: [0, 1], count: before, selected: before }],
    });
  });
});

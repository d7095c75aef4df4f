import { tmpdir } from 'node:os';
import type { DuckDBConnection } from '@duckdb/node-api';
import { expect } from 'vitest';
import { compileSearch } from '../../query/compile-search.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import { column } from '../../sql/columns.ts';
import { duckdbDialect } from '../../sql/duckdb-dialect.ts';
import { eventsRelation, sealedEvents } from '../../sql/events-relation.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text } from '../../sql/fragment.ts';
import { DETAIL_ROWS } from '../../sql/group-facts.ts';
import { groupDetailStatement, groupPageStatement } from '../../sql/group-statements.ts';
import { createHotTableStatement } from '../../sql/journal-statements.ts';
import { unmarkText } from '../../sql/marked-text.ts';
import { rowPageStatement } from '../../sql/row-statements.ts';
import { sealingRows, sealingTableStatement } from '../../sql/segment-statements.ts';
import { renderSql } from '../../sql/statement.ts';
import { runStatement, startEngine } from '../../store/duckdb-engine.ts';

const NOW = 1_790_000_000_000;
const ZONE = 9;
/** The same events as they are in a hot table, and as they are in a segment. */
const LAYOUTS = [
  eventsRelation([{ name: 'hot_1', firstSequence: null }], [], 1n << 62n),
  sql`(${sealedEvents(sealingRows('sealed_1', 1).rows)}) AS events`,
] as const;

/** The columns that hold an event's text: compared exactly, with case ignored, and as an address that it is not. */
const FILLED = ['url', 'feature', 'ip'] as const;

export interface HostileGroup {
  readonly key: readonly string[];
  readonly count: number;
}

/** A real DuckDB table with one event a text, which has the text in several columns; `logId` is the text's place in the list. */
export class HostileTable {
  readonly #connection: DuckDBConnection;

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  static async filledWith(texts: readonly string[]): Promise<HostileTable> {
    const engine = await startEngine({ memoryLimitMb: 256, spillFolder: tmpdir(), threads: 1 });
    const connection = await engine.connect();
    await runStatement(connection, createHotTableStatement('hot_1'));
    const names = joinSql([...(['seq', 'shieldZoneId', 'timestamp', 'logId'] as const), ...FILLED].map(column), ', ');
    for (const [place, stored] of texts.entries()) {
      const values = [int64(place), int32(ZONE), int64(NOW - 1000), text(String(place)), ...FILLED.map(() => text(stored))];
      const bound = joinSql(
        values.map((value) => sql`${value}`),
        ', ',
      );
      await runStatement(connection, renderSql(sql`INSERT INTO hot_1 (${names}) VALUES (${bound})`, duckdbDialect.placeholder));
    }
    await runStatement(connection, sealingTableStatement('sealed_1', LAYOUTS[0]));
    return new HostileTable(connection);
  }

  /** The places of the texts that a search with these fields finds, ascending. */
  async find(fields: object): Promise<number[]> {
    const plan = compile(fields);
    const slice = { offset: 0, limit: plan.page.size };
    return await this.#inEveryLayout(async (events) => {
      const rows = await runStatement(this.#connection, rowPageStatement(plan, events, plan.window, slice, column('logId'), duckdbDialect));
      return rows.map(([logId]) => Number(logId)).sort((a, b) => a - b);
    });
  }

  /** The keys and counts of the groups, from the first phase, and the counts that the second phase has for those keys. */
  async groups(fields: object): Promise<{ readonly groups: readonly HostileGroup[]; readonly details: readonly number[] }> {
    const plan = compile(fields);
    const { output } = plan;
    if (output.kind !== 'groups') {
      throw new Error('not a request for groups');
    }
    return await this.#inEveryLayout(async (events) => {
      const page = await runStatement(this.#connection, groupPageStatement(plan, output, events, duckdbDialect));
      const keys = page.map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
      // Not as the whole of all groups, so that the keys are joined.
      const statement = groupDetailStatement(plan, output, { keys, isWhole: false }, events, duckdbDialect);
      const details = keys.map(() => 0);
      for (const [position, absent, , , , , counted] of await runStatement(this.#connection, statement)) {
        if (Number(absent) === DETAIL_ROWS.verdict) {
          details[Number(position)] = (details[Number(position)] ?? 0) + Number(counted);
        }
      }
      const groups = keys.map((key, place) => ({ key, count: Number(page[place]?.at(-1)) }));
      return { groups, details };
    });
  }

  /** What is found, which has to be the same in every layout. */
  async #inEveryLayout<T>(find: (events: SqlFragment) => Promise<T>): Promise<T> {
    const [hot, sealed] = [await find(LAYOUTS[0]), await find(LAYOUTS[1])];
    expect(sealed).toEqual(hot);
    return hot;
  }

  close(): void {
    this.#connection.closeSync();
  }
}

function compile(fields: object): SearchPlan {
  const body = JSON.stringify({ from: NOW - 3_600_000, to: NOW, pageSize: 500, ...fields });
  return compileSearch(new TextEncoder().encode(body), { zoneId: ZONE, nowMs: NOW });
}

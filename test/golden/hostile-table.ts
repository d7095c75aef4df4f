import { tmpdir } from 'node:os';
import type { DuckDBConnection } from '@duckdb/node-api';
import { compileSearch } from '../../query/compile-search.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import { column } from '../../sql/columns.ts';
import { duckdbDialect } from '../../sql/duckdb-dialect.ts';
import { int32, int64, joinSql, sql, text, trusted } from '../../sql/fragment.ts';
import { DETAIL_ROWS, groupDetailStatement, groupPageStatement } from '../../sql/group-statements.ts';
import { createHotTableStatement } from '../../sql/journal-statements.ts';
import { unmarkText } from '../../sql/marked-text.ts';
import { rowPageStatement } from '../../sql/row-statements.ts';
import { renderSql } from '../../sql/statement.ts';
import { runStatement, startEngine } from '../../store/duckdb-engine.ts';

const NOW = 1_790_000_000_000;
const ZONE = 9;
const EVENTS = trusted('hot_1 AS events');

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
    return new HostileTable(connection);
  }

  /** The places of the texts that a search with these fields finds, ascending. */
  async find(fields: object): Promise<number[]> {
    const plan = compile(fields);
    const slice = { offset: 0, limit: plan.page.size };
    const rows = await runStatement(this.#connection, rowPageStatement(plan, EVENTS, plan.window, slice, column('logId'), duckdbDialect));
    return rows.map(([logId]) => Number(logId)).sort((a, b) => a - b);
  }

  /** The keys and counts of the groups, from the first phase, and the counts that the second phase has for those keys. */
  async groups(fields: object): Promise<{ readonly groups: readonly HostileGroup[]; readonly details: readonly number[] }> {
    const plan = compile(fields);
    if (plan.output.kind !== 'groups') {
      throw new Error('not a request for groups');
    }
    const page = await runStatement(this.#connection, groupPageStatement(plan, plan.output, EVENTS, duckdbDialect));
    const keys = page.map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
    // Not as the whole of all groups, so that the keys are joined.
    const statement = groupDetailStatement(plan, plan.output, { keys, isWhole: false }, EVENTS, duckdbDialect);
    const details = keys.map(() => 0);
    for (const [position, absent, , , , , events] of await runStatement(this.#connection, statement)) {
      if (Number(absent) === DETAIL_ROWS.verdict) {
        details[Number(position)] = (details[Number(position)] ?? 0) + Number(events);
      }
    }
    const groups = keys.map((key, place) => ({ key, count: Number(page[place]?.at(-1)) }));
    return { groups, details };
  }

  close(): void {
    this.#connection.closeSync();
  }
}

function compile(fields: object): SearchPlan {
  const body = JSON.stringify({ from: NOW - 3_600_000, to: NOW, pageSize: 500, ...fields });
  return compileSearch(new TextEncoder().encode(body), { zoneId: ZONE, nowMs: NOW });
}

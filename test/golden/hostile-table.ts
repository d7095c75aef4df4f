import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { expect } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { eventsRelation, journalRows } from '../../sql/events-relation.ts';
import { DETAIL_ROWS, groupDetailStatement } from '../../sql/group-fact-statements.ts';
import { groupPageStatement } from '../../sql/group-statements.ts';
import { rowsStatement } from '../../sql/row-statements.ts';
import { type SegmentSlice, sliceInOrder, writeSegmentStatement } from '../../sql/segment-statements.ts';
import { type SqlFragment, unmarkText } from '../../sql/statement.ts';
import { startEngine } from '../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../store/embedded/duckdb/statement-runner.ts';
import type { EventBatch } from '../../store/event-store.ts';
import { batchFileOf } from '../../store/parquet/batch-file.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import type { HostileGroup, TableOfTexts } from './hostile-texts.ts';

const NOW = 1_790_000_000_000;
const ZONE = 9;

/** The columns that hold an event's text: compared exactly, with case ignored, and as an address that it is not. */
const FILLED = ['url', 'feature', 'ip'] as const;

/** The table of DuckDB. */
export class HostileTable implements TableOfTexts {
  readonly #connection: DuckDBConnection;
  readonly #runner: StatementRunner;
  /** The same events as they are in a journal, and as they are in a segment. */
  readonly #layouts: readonly [SqlFragment, SqlFragment];
  readonly #folder: string;

  private constructor(connection: DuckDBConnection, layouts: readonly [SqlFragment, SqlFragment], folder: string) {
    this.#connection = connection;
    this.#runner = new StatementRunner(connection);
    this.#layouts = layouts;
    this.#folder = folder;
  }

  static async filledWith(texts: readonly string[]): Promise<HostileTable> {
    const folder = mkdtempSync(join(tmpdir(), 'shieldlog-hostile-'));
    const engine = await startEngine({ memoryLimitMb: 256, spillFolder: folder, threads: 1 });
    const connection = await engine.connect();
    const [path, segment] = [join(folder, 'events.parquet'), join(folder, 'segment.parquet')];
    const { fields, eventCount } = batchOfTexts(texts);
    writeFileSync(path, Buffer.concat(batchFileOf(fields, eventCount, 0n)));
    const slice: SegmentSlice = { fromMs: 0, toMs: NOW, firstZone: ZONE, lastZone: ZONE, zones: 'small' };
    const rows = sliceInOrder(journalRows([{ path }], [], 0n), slice, 1, 0);
    await new StatementRunner(connection).run(writeSegmentStatement(rows, slice, segment));
    return new HostileTable(connection, [eventsRelation([{ path }], [], 0n), eventsRelation([], [segment], 0n)], folder);
  }

  async find(fields: object): Promise<number[]> {
    const plan = planOfTexts(fields);
    return await this.#inEveryLayout(async (events) => {
      const rows = await this.#runner.run(rowsStatement(plan, events, plan.window, { limit: plan.page.size }));
      return rows.map(([row]) => Number((JSON.parse(row as string) as string[])[1])).sort((a, b) => a - b);
    });
  }

  async groups(fields: object): Promise<{ readonly groups: readonly HostileGroup[]; readonly details: readonly number[] }> {
    const plan = planOfTexts(fields);
    const { output } = plan;
    if (output.kind !== 'groups') {
      throw new Error('not a request for groups');
    }
    return await this.#inEveryLayout(async (events) => {
      const page = await this.#runner.run(groupPageStatement(plan, output, events));
      const keys = page.map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
      // Not as the whole of all groups, so that the keys are joined.
      const statement = groupDetailStatement(plan, output, { keys, isWhole: false }, events);
      const details = keys.map(() => 0);
      for (const [position, absent, , , , , counted] of await this.#runner.run(statement)) {
        if (Number(absent) === DETAIL_ROWS.action) {
          details[Number(position)] = (details[Number(position)] ?? 0) + Number(counted);
        }
      }
      const groups = keys.map((key, index) => ({ key, count: Number(page[index]?.at(-1)) }));
      return { groups, details };
    });
  }

  /** Returns what is found, which must be the same in every layout. */
  async #inEveryLayout<T>(find: (events: SqlFragment) => Promise<T>): Promise<T> {
    const [unflushed, flushed] = [await find(this.#layouts[0]), await find(this.#layouts[1])];
    expect(flushed).toEqual(unflushed);
    return unflushed;
  }

  close(): void {
    this.#connection.closeSync();
    rmSync(this.#folder, { recursive: true });
  }
}

/** An event for each text. */
export function batchOfTexts(texts: readonly string[]): EventBatch {
  return canonicalBatch(
    texts.map((stored, index) => ({
      logId: String(index),
      shieldZoneId: ZONE,
      timestamp: NOW - 1000,
      ...Object.fromEntries(FILLED.map((name) => [name, stored])),
    })),
  );
}

/** The plan of a search of all these events with further fields. */
export function planOfTexts(fields: object): SearchPlan {
  const body = JSON.stringify({ from: NOW - 3_600_000, to: NOW, pageSize: 500, ...fields });
  return compileSearch(new TextEncoder().encode(body), { zoneId: ZONE, nowMs: NOW });
}

import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { SearchPlan, TimeWindow } from '../query/search-plan.ts';
import { column, columnList, EVENT_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** The place of a row in the order of an export: newest first, then by `logId`. No two events of a zone share it. */
export interface RowKey {
  readonly timestamp: number;
  readonly logId: string;
}

const ORDER = trusted('"timestamp" DESC, "logId"');

const PACKED = ['timestamp', 'logId', ...TEXT_FIELDS] as const;
const READ_COLUMNS = columnList(EVENT_COLUMNS.filter(({ name }) => ['logPlace', ...PACKED].includes(name)));

/**
 * The first `limit` matching events of `window` behind `after`, in the order of an export. Columns: the JSON text of an array of texts or
 * nulls, which are `timestamp`, `logId` and {@link TEXT_FIELDS}; logPlace. So few values are read several times as fast as thirteen.
 */
export function exportRowsStatement(
  plan: SearchPlan,
  events: SqlFragment,
  window: TimeWindow,
  after: RowKey | undefined,
  limit: number,
): SqlStatement {
  const toMs = after === undefined ? window.toMs : Math.min(window.toMs, after.timestamp + 1);
  const behind =
    after === undefined
      ? trusted('')
      : sql` AND (${column('timestamp')} < ${int64(after.timestamp)} OR ${column('logId')} > ${text(after.logId)})`;
  const matching = sql`SELECT ${READ_COLUMNS} FROM ${events} WHERE ${matchSql(plan, { fromMs: window.fromMs, toMs }, duckdbDialect)}${behind} ORDER BY ${ORDER} LIMIT ${int64(limit)}`;
  const texts = joinSql(
    PACKED.map((name) => sql`${column(name)}::VARCHAR`),
    ', ',
  );
  return render(sql`SELECT to_json([${texts}])::VARCHAR, ${column('logPlace')} FROM (${matching}) AS page ORDER BY ${ORDER}`);
}

function render(fragment: SqlFragment): SqlStatement {
  return renderSql(fragment, duckdbDialect.placeholder);
}

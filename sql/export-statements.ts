import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { SearchPlan, TimeWindow } from '../query/search-plan.ts';
import { column, columnList, EVENT_COLUMNS, LOG_ROW_BITS } from './columns.ts';
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

const PACKED = ['timestamp', 'logId', 'log', ...TEXT_FIELDS] as const;
const READ_COLUMNS = columnList(EVENT_COLUMNS.filter(({ name }) => ['logPlace', ...PACKED].includes(name)));

/**
 * The first `limit` matching events of `window` behind `after`, in the order of an export. Columns: the JSON text of an array of texts or nulls, which are `timestamp`, `logId`,
 * `log` and {@link TEXT_FIELDS}; logPlace. So few values are read several times as fast as fourteen.
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

/** The rows of one bundle between two rows, both included, among which there are wanted ones. */
export interface BundleStretch {
  readonly bundle: bigint;
  readonly path: string;
  readonly firstRow: bigint;
  readonly lastRow: bigint;
}

/** The logs at `places`, all of which lie in the stretches. Columns: the position in `places`, from 1; log as it is packed. In no order. */
export function exportLogsStatement(places: readonly bigint[], stretches: readonly BundleStretch[]): SqlStatement {
  const logs = stretches.map(({ bundle, path, firstRow, lastRow }) => {
    const first = bundle << BigInt(LOG_ROW_BITS);
    return sql`SELECT ${int64(first)} + file_row_number AS place, ${column('log')} FROM read_parquet(${text(path)}, file_row_number = true) WHERE file_row_number BETWEEN ${int64(firstRow)} AND ${int64(lastRow)}`;
  });
  // As one text: a list of ten thousand numbers takes longer to bind than to read.
  const listed = sql`SELECT string_split(${text(places.join(','))}, ',')::BIGINT[] AS places`;
  return render(
    sql`SELECT position, ${column('log')} FROM (SELECT unnest(places) AS place, generate_subscripts(places, 1)::INTEGER AS position FROM (${listed})) AS wanted JOIN (${joinSql(logs, ' UNION ALL ')}) AS logs USING (place)`,
  );
}

function render(fragment: SqlFragment): SqlStatement {
  return renderSql(fragment, duckdbDialect.placeholder);
}

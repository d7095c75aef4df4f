import { column, columnList, LOG_ID_PARTS, LOG_ROW_BITS, SEGMENT_COLUMNS } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { logIdParts, withLogIdForm } from './log-id-parts.ts';
import { packedLog } from './packed-log.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** How hot tables become files, and how those are read one by one. Table names and paths are the store's own. */

const render = (fragment: SqlFragment): SqlStatement => renderSql(fragment, duckdbDialect.placeholder);

/** Zone by zone, so that row groups can be skipped by zone and by time; `seq` makes it one order only. */
const SEALED_ORDER = joinSql([column('shieldZoneId'), column('timestamp'), column('seq')], ', ');

/** As small as can be, and as quickly read as can be. */
const SMALL = 'zstd, COMPRESSION_LEVEL 1';
const QUICK = 'lz4_raw';

/**
 * What suits a segment of large zones, and one of small zones. Of a large zone many rows are searched: in large row groups, quickly decompressed, for a quarter more room. Of a
 * small one every search reads a whole row group, which had better be small, and there are many of them.
 */
const LAYOUTS = {
  large: { rowGroup: 32_768, compression: QUICK },
  small: { rowGroup: 8_192, compression: SMALL },
} as const;

/** A page of rows reads whole row groups for the sake of a few logs. */
const BUNDLE_ROW_GROUP = 2_048;

/** Hardly two logs are the same: looking for those that are takes a tenth of the time and finds none. */
const NO_DICTIONARY = 0;

const quotedPath = (path: string) => trusted(`'${path.replaceAll("'", "''")}'`);

const parquetOptions = (compression: string, rowGroup: number, dictionarySize: number) =>
  trusted(
    `FORMAT parquet, PARQUET_VERSION v2, COMPRESSION ${compression}, ROW_GROUP_SIZE ${rowGroup}, DICTIONARY_SIZE_LIMIT ${dictionarySize}`,
  );

/** How many events of each zone lie in each time slab. Columns: slab (number since the epoch), zone, events, and the bounds of time and sequence. */
export function slabZoneCountStatement(events: SqlFragment, slabMs: number): SqlStatement {
  return render(
    sql`SELECT ${column('timestamp')} // ${int64(slabMs)} AS slab, ${column('shieldZoneId')} AS zone, count(*) AS events, min(${column('timestamp')}) AS "minTimestamp", max(${column('timestamp')}) AS "maxTimestamp", min(${column('seq')}) AS "minSequence", max(${column('seq')}) AS "maxSequence" FROM ${events} GROUP BY slab, zone ORDER BY slab, zone`,
  );
}

/** Writes the logs of the events, packed, and nothing else, as a Parquet file in the order of {@link rowsInOrder}. */
export function writeBundleStatement(events: SqlFragment, path: string): SqlStatement {
  return render(
    sql`COPY (SELECT ${packedLog} AS ${column('log')} FROM ${events} ORDER BY ${SEALED_ORDER}) TO ${quotedPath(path)} (${parquetOptions(SMALL, BUNDLE_ROW_GROUP, NO_DICTIONARY)})`,
  );
}

/** Rows of segments, and whether they come in the order that segments have. */
export interface SegmentRows {
  readonly rows: SqlFragment;
  readonly inOrder: boolean;
}

const numbered = (bundle: number, row: SqlFragment) =>
  sql`${int64(BigInt(bundle) << BigInt(LOG_ROW_BITS))} + ${row} AS ${column('logPlace')}`;

/** The events without their logs, sorted. The row of each is the row of its log in the bundle. */
function sorted(events: SqlFragment): SqlFragment {
  const columns = columnList(
    SEGMENT_COLUMNS.filter((one) => one.name !== 'unfolded' && one.name !== 'logPlace' && !LOG_ID_PARTS.includes(one)),
  );
  const changes = (name: 'ip' | 'urlTail') => sql`coalesce(lower(${column(name)}) <> ${column(name)}, false)`;
  return sql`SELECT ${columns}, ${logIdParts}, ${changes('ip')} OR ${changes('urlTail')} AS ${column('unfolded')} FROM ${withLogIdForm(events)} ORDER BY ${SEALED_ORDER}`;
}

/** The events, whose logs are in the bundle, as rows of one segment, sorted on the way into its file. */
export function rowsInOrder(events: SqlFragment, bundle: number): SegmentRows {
  // A window without an order numbers the rows as they come.
  return {
    rows: sql`(SELECT *, ${numbered(bundle, sql`row_number() OVER () - 1`)} FROM (${sorted(events)}) AS sorted) AS events`,
    inOrder: true,
  };
}

/** Sorts the events once, into a table, for several segments. */
export function sealingTableStatement(table: string, events: SqlFragment): SqlStatement {
  return render(sql`CREATE OR REPLACE TABLE ${trusted(table)} AS ${sorted(events)}`);
}

/** The rows of such a table as rows of segments. */
export function sealingRows(table: string, bundle: number): SegmentRows {
  return { rows: sql`(SELECT *, ${numbered(bundle, trusted('rowid'))} FROM ${trusted(table)}) AS events`, inOrder: true };
}

export interface SegmentSlice {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly firstZone: number;
  /** Inclusive. */
  readonly lastZone: number;
  /** What is in it mostly. */
  readonly zones: keyof typeof LAYOUTS;
}

/** Writes a slice of the rows as a segment. */
export function writeSegmentStatement({ rows, inOrder }: SegmentRows, slice: SegmentSlice, path: string): SqlStatement {
  const { rowGroup, compression } = LAYOUTS[slice.zones];
  const order = inOrder ? trusted('') : sql` ORDER BY ${SEALED_ORDER}`;
  return render(
    sql`COPY (SELECT ${columnList(SEGMENT_COLUMNS)} FROM ${rows} WHERE ${column('timestamp')} >= ${int64(slice.fromMs)} AND ${column('timestamp')} < ${int64(slice.toMs)} AND ${column('shieldZoneId')} BETWEEN ${int32(slice.firstZone)} AND ${int32(slice.lastZone)}${order}) TO ${quotedPath(path)} (${parquetOptions(compression, rowGroup, rowGroup / 2)})`,
  );
}

/** Rows of one bundle. */
export interface BundleRows {
  readonly bundle: bigint;
  readonly path: string;
  /** At least one. */
  readonly rows: readonly bigint[];
}

/** The bundle and the row in it that a `logPlace` stands for. */
export function logRow(logPlace: bigint): { readonly bundle: bigint; readonly row: bigint } {
  return { bundle: logPlace >> BigInt(LOG_ROW_BITS), row: BigInt.asUintN(LOG_ROW_BITS, logPlace) };
}

/** Of more rows than this of one bundle, everything between the first and the last is read: the list would take longer than the rows. */
const LISTED_ROWS = 1_000;

/** The logs in these rows of bundles, of which there is at least one, and maybe others. Columns: logPlace, log as it is packed. */
export function readLogsStatement(wanted: readonly BundleRows[]): SqlStatement {
  const parts = wanted.map(({ bundle, path, rows }) => {
    const first = bundle << BigInt(LOG_ROW_BITS);
    return sql`SELECT ${int64(first)} + file_row_number, ${column('log')} FROM read_parquet(${text(path)}, file_row_number = true) WHERE ${isOneOf(rows)}`;
  });
  return render(joinSql(parts, ' UNION ALL '));
}

function isOneOf(rows: readonly bigint[]): SqlFragment {
  if (rows.length <= LISTED_ROWS) {
    const listed = joinSql(
      rows.map((row) => sql`${int64(row)}`),
      ', ',
    );
    return sql`file_row_number IN (${listed})`;
  }
  const sorted = rows.toSorted((a, b) => Number(a - b));
  return sql`file_row_number BETWEEN ${int64(sorted[0] as bigint)} AND ${int64(sorted.at(-1) as bigint)}`;
}

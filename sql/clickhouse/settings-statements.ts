import { clickhouseStatement } from '../dialect.ts';
import { int64, joinSql, type SqlStatement, sql, text } from '../statement.ts';

/** The claim to follow rules of alerts is a row of this name among the settings, because every store has their table. */
const ALERT_CLAIM = 'ALERT_CLAIM';
const IS_CLAIM = sql`name = ${text(ALERT_CLAIM)}`;

/** The settings of a store, without the claim that stands beside them. Columns: name, value. */
export const STORE_SETTINGS_STATEMENT: SqlStatement = clickhouseStatement(
  sql`SELECT name, value FROM store_settings FINAL WHERE name != ${text(ALERT_CLAIM)} ORDER BY name`,
);

/** Writes settings by their names. The last value of a name counts, also where a clock steps back. */
export function writeSettingsStatement(settings: Iterable<readonly [name: string, value: string]>): SqlStatement {
  const pairs = [...settings].map(([name, value]) => sql`(${text(name)}, ${text(value)})`);
  return clickhouseStatement(sql`INSERT INTO store_settings (name, value, changedAt)
    SELECT tupleElement(one, 1), tupleElement(one, 2),
      greatest(toUnixTimestamp64Micro(now64(6)), (SELECT max(changedAt) + 1 FROM store_settings))
    FROM (SELECT arrayJoin([${joinSql(pairs)}]) AS one)`);
}

/** One row: what was written last, or an empty text; its version, or 0; the clock of the server, Unix milliseconds. */
export const ALERT_CLAIM_STATEMENT: SqlStatement = clickhouseStatement(
  sql`SELECT argMax(value, changedAt), max(changedAt), toUnixTimestamp64Milli(now64(3)) FROM store_settings WHERE ${IS_CLAIM}`,
);

/** Writes the claim, or nothing where its version is not `seen` any more. */
export function writeClaimStatement(value: string, seen: bigint): SqlStatement {
  return clickhouseStatement(sql`INSERT INTO store_settings (name, value, changedAt)
    SELECT ${text(ALERT_CLAIM)}, ${text(value)}, greatest(toUnixTimestamp64Micro(now64(6)), ${int64(seen)} + 1)
    WHERE (SELECT max(changedAt) FROM store_settings WHERE ${IS_CLAIM}) = ${int64(seen)}`);
}

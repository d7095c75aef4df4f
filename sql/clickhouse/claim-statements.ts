import { clickhouseStatement } from '../dialect.ts';
import { int64, type SqlStatement, sql, text } from '../statement.ts';

/** The claim to follow rules of alerts is a row of this name among the settings, because every store has their table. */
export const ALERT_CLAIM = 'ALERT_CLAIM';
const IS_CLAIM = sql`name = ${text(ALERT_CLAIM)}`;

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

import { clickhouseStatement } from '../dialect.ts';
import { joinSql, type SqlStatement, sql, text } from '../statement.ts';
import { ALERT_CLAIM } from './claim-statements.ts';

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

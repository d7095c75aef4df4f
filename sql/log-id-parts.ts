import { column, LOG_ID_PARTS } from './columns.ts';
import { joinSql, type SqlFragment, sql, trusted } from './fragment.ts';

/** How the `logId` of an event becomes the {@link LOG_ID_PARTS} of a sealed one, and back. Compression does not find out that a digit is half a byte. */

/** Of a relation of events that {@link withLogIdForm} has looked at. */
const PARTS: Readonly<Record<string, string>> = {
  logIdBytes: `CASE "logIdForm" WHEN 1 THEN unhex("logId") WHEN 2 THEN unhex(replace("logId", '-', '')) END`,
  logIdText: `CASE "logIdForm" WHEN 1 THEN NULL WHEN 2 THEN '-' ELSE "logId" END`,
};

/** Only lower case: an id comes back as it was. */
const HEX = 'regexp_full_match("logId", \'[0-9a-f]{32}\')';
const UUID = 'regexp_full_match("logId", \'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\')';

/** The events with a further column `logIdForm`. */
export function withLogIdForm(events: SqlFragment): SqlFragment {
  return sql`(SELECT *, ${trusted(`CASE strlen("logId") WHEN 32 THEN CASE WHEN ${HEX} THEN 1 END WHEN 36 THEN CASE WHEN ${UUID} THEN 2 END END AS "logIdForm"`)} FROM ${events}) AS events`;
}

/** The {@link LOG_ID_PARTS} of such events. */
export const logIdParts: SqlFragment = joinSql(
  LOG_ID_PARTS.map(({ name }) => sql`${trusted(PARTS[name] as string)} AS ${column(name)}`),
  ', ',
);

/** The `logId` from its parts. */
export const REBUILT_LOG_ID = `CASE WHEN "logIdBytes" IS NULL THEN "logIdText" WHEN "logIdText" IS NULL THEN lower(hex("logIdBytes")) ELSE hex("logIdBytes")::UUID::VARCHAR END`;

import { type SqlFragment, sql, trusted } from './fragment.ts';

/** How the `logId` of an event becomes the `LOG_ID_PARTS` of a sealed one, and back. Compression does not find out that a digit is half a byte. */

/** Only lower case: an id comes back as it was. */
const HEX = 'regexp_full_match("logId", \'[0-9a-f]{32}\')';
const UUID = 'regexp_full_match("logId", \'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\')';

/** The events with a further column `logIdForm`. */
export function withLogIdForm(events: SqlFragment): SqlFragment {
  return sql`(SELECT *, ${trusted(`CASE WHEN ${HEX} THEN 1 WHEN ${UUID} THEN 2 END AS "logIdForm"`)} FROM ${events}) AS events`;
}

/** The `LOG_ID_PARTS` of such events. */
export const logIdParts: SqlFragment = trusted(
  `CASE "logIdForm" WHEN 1 THEN unhex("logId") WHEN 2 THEN unhex(replace("logId", '-', '')) END AS "logIdBytes", CASE "logIdForm" WHEN 1 THEN NULL WHEN 2 THEN '-' ELSE "logId" END AS "logIdText"`,
);

/** The `logId` from its parts. */
export const REBUILT_LOG_ID = `CASE WHEN "logIdBytes" IS NULL THEN "logIdText" WHEN "logIdText" IS NULL THEN lower(hex("logIdBytes")) ELSE hex("logIdBytes")::UUID::VARCHAR END`;

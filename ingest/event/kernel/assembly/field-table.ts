/** Made by `generate-field-table.ts` from `query/event-fields.ts`, and never edited: `npm run build` writes it. */

/** The columns, by their indices in `BATCH_COLUMNS`. The masks of the events and their logs follow them. */
export const SHIELD_ZONE_ID_COLUMN: u32 = 0;
export const TIMESTAMP_COLUMN: u32 = 1;
export const LOG_ID_BYTES_COLUMN: u32 = 2;
export const LOG_ID_TEXT_COLUMN: u32 = 3;
export const FEATURE_COLUMN: u32 = 4;
export const RULE_ID_COLUMN: u32 = 5;
export const RULE_NAME_COLUMN: u32 = 6;
export const IP_COLUMN: u32 = 7;
export const JA4_COLUMN: u32 = 8;
export const UA_COLUMN: u32 = 9;
export const URL_HEAD_COLUMN: u32 = 10;
export const URL_TAIL_COLUMN: u32 = 11;
export const ASN_COLUMN: u32 = 12;
export const COUNTRY_COLUMN: u32 = 13;
export const ACTION_COLUMN: u32 = 14;
export const IP_HIGH_COLUMN: u32 = 15;
export const IP_LOW_COLUMN: u32 = 16;
export const MASKS: u32 = 17;
export const LOGS: u32 = 18;
export const COLUMN_COUNT: u32 = 19;

/** The fields, by the numbers of their columns; the log has none. */
export const SHIELD_ZONE_ID: u32 = 0;
export const TIMESTAMP: u32 = 1;
export const LOG_ID: u32 = 3;
export const LOG: u32 = 17;
export const FEATURE: u32 = 4;
export const RULE_ID: u32 = 5;
export const RULE_NAME: u32 = 6;
export const IP: u32 = 7;
export const JA4: u32 = 8;
export const UA: u32 = 9;
export const URL: u32 = 10;
export const ASN: u32 = 12;
export const COUNTRY: u32 = 13;
export const ACTION: u32 = 14;
export const FIELD_COUNT: u32 = 18;
export const NO_FIELD: u32 = 18;

/** Bits for the texts without rules of their own. */
export const PLAIN_TEXTS: u32 = 26480;
/** Bits for the texts that are written to one column. */
export const ONE_COLUMN_TEXTS: u32 = 29680;
/** Bits for the fields with a column, but not the id. */
export const FIELDS_WITH_COLUMN: u32 = 30707;

/** The values that a packed log repeats are marked by these, in the order in which they are looked for. */
export const URL_MARK: u32 = 1;
export const IP_MARK: u32 = 2;
export const RULE_NAME_MARK: u32 = 3;
export const RULE_ID_MARK: u32 = 4;
/** A shorter value is left in the log. */
export const SHORTEST_PACKED: usize = 6;

/** The slot of a name is its length and first byte times these, plus its last byte; no two names share one. */
export const NAME_SLOTS: u32 = 64;
export const LENGTH_FACTOR: u32 = 1;
export const FIRST_FACTOR: u32 = 2;

/** Calls `enter` with each name on the wire and its field. */
export function enterNames(enter: (name: string, field: u32) => void): void {
  enter('shieldZoneId', SHIELD_ZONE_ID);
  enter('timestamp', TIMESTAMP);
  enter('logId', LOG_ID);
  enter('log', LOG);
  enter('feature', FEATURE);
  enter('ruleId', RULE_ID);
  enter('ruleName', RULE_NAME);
  enter('ip', IP);
  enter('ja4', JA4);
  enter('ua', UA);
  enter('url', URL);
  enter('asn', ASN);
  enter('country', COUNTRY);
  enter('action', ACTION);
}

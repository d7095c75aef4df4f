/**
 * The `logId` of an event from `logIdBytes` and `logIdText` (see `query/batch-columns.ts`). Compression does not find out that a
 * hexadecimal digit is half a byte.
 */
export const REBUILT_LOG_ID = `CASE WHEN "logIdBytes" IS NULL THEN "logIdText" WHEN "logIdText" IS NULL THEN lower(hex("logIdBytes")) ELSE hex("logIdBytes")::UUID::VARCHAR END`;

/**
 * The names in a canonical event: one NDJSON line as `ingest/` writes it and the store loads it.
 * Everything else that an event carried on the wire lies inside its log, which is kept apart from the line.
 */
export const TEXT_FIELDS = ['feature', 'ruleId', 'ruleName', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'] as const;

export type TextField = (typeof TEXT_FIELDS)[number];

/**
 * - `logId` string, never empty
 * - `shieldZoneId` int32, `timestamp` int64 Unix ms UTC
 * - the text fields: strings, absent when the event has none (an empty text is a value); `asn` is one or more decimal digits
 * - `ipHigh`, `ipLow`: the upper and lower 64 bits of `ip` as an IPv6 number (IPv4 as `::ffff:a.b.c.d`), unsigned JSON integers;
 *   both absent when `ip` is absent or is not an address
 *
 * Nothing in the line nests. The event's log, a JSON object, is another line: see `query/packed-log.ts`.
 */
export const CANONICAL_FIELDS = ['logId', 'shieldZoneId', 'timestamp', ...TEXT_FIELDS, 'ipHigh', 'ipLow'] as const;

/**
 * The fields of an event that are texts, absent where it has none. Everything else that it carried on the wire, but its id, zone and time,
 * lies inside its log.
 */
export const TEXT_FIELDS = ['feature', 'ruleId', 'ruleName', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'] as const;

export type TextField = (typeof TEXT_FIELDS)[number];

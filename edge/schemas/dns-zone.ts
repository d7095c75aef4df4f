import type { JsonSchema } from '../operation.ts';
import {
  exactly,
  ID,
  INT32,
  input,
  listOf,
  NULLABLE_TEXT,
  NUMBER,
  namesOf,
  type Properties,
  TEXT,
  TIME,
  YES_OR_NO,
} from './object-schema.ts';

function nullable(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema['type'], 'null'] };
}

export const RECORD_TYPES = {
  A: 0,
  AAAA: 1,
  CNAME: 2,
  TXT: 3,
  MX: 4,
  Redirect: 5,
  Flatten: 6,
  PullZone: 7,
  SRV: 8,
  CAA: 9,
  PTR: 10,
  Script: 11,
  NS: 12,
  SVCB: 13,
  HTTPS: 14,
  TLSA: 15,
} as const;

const RECORD_TYPE: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: Math.max(...Object.values(RECORD_TYPES)),
  description: namesOf(RECORD_TYPES),
};

/** Of a record, as an answer has them: a field that was left out has what it means then. */
const FIELDS = {
  Type: RECORD_TYPE,
  Ttl: INT32,
  Value: TEXT,
  Name: TEXT,
  Weight: { type: 'integer', minimum: 0, maximum: 100 },
  Priority: { type: 'integer', minimum: 0, maximum: 65_535 },
  Flags: { type: 'integer', minimum: 0, maximum: 255 },
  Tag: TEXT,
  Port: { type: 'integer', minimum: 0, maximum: 65_535 },
  PullZoneId: { type: 'integer', minimum: 0 },
  ScriptId: { type: 'integer', minimum: 0 },
  Accelerated: YES_OR_NO,
  GeolocationLatitude: { type: 'number', minimum: -90, maximum: 90 },
  GeolocationLongitude: { type: 'number', minimum: -180, maximum: 180 },
  LatencyZone: TEXT,
  Disabled: YES_OR_NO,
  // The platform spells it so.
  EnviromentalVariables: listOf(exactly({ Name: TEXT, Value: TEXT })),
  Comment: TEXT,
  AutoSslIssuance: YES_OR_NO,
} as const satisfies Properties;

const VARIABLES_INPUT = listOf(input({ Name: TEXT, Value: NULLABLE_TEXT }, ['Name']));

export const RECORD_INPUT = input(
  Object.fromEntries(
    Object.entries({ ...FIELDS, EnviromentalVariables: VARIABLES_INPUT }).map(([name, schema]) => [name, nullable(schema)]),
  ),
  [],
);

export const DNS_ZONE_INPUT = input({ Domain: TEXT, Records: { type: ['array', 'null'], items: RECORD_INPUT, maxItems: 5000 } }, [
  'Domain',
]);

const RECORD = exactly({ ...FIELDS, Id: ID });

export const DNS_ZONE = exactly({
  Id: ID,
  Domain: TEXT,
  Records: listOf(RECORD),
  DateModified: TIME,
  DateCreated: TIME,
  NameserversDetected: YES_OR_NO,
  CustomNameserversEnabled: YES_OR_NO,
  Nameserver1: NULLABLE_TEXT,
  Nameserver2: NULLABLE_TEXT,
  SoaEmail: NULLABLE_TEXT,
  NameserversNextCheck: TIME,
  LoggingEnabled: YES_OR_NO,
  LoggingIPAnonymizationEnabled: YES_OR_NO,
  LogAnonymizationType: NUMBER,
  DnsSecEnabled: YES_OR_NO,
  CertificateKeyType: NUMBER,
});

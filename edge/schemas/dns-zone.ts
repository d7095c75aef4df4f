import type { JsonSchema } from '../operation.ts';
import { exactly, ID, INT32, input, listOf, NULLABLE_TEXT, NUMBER, type Properties, TEXT, TIME, YES_OR_NO } from './object-schema.ts';

function nullable(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema['type'], 'null'] };
}

const RECORD_TYPE: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: 15,
  description:
    '0 A, 1 AAAA, 2 CNAME, 3 TXT, 4 MX, 5 Redirect, 6 Flatten, 7 PullZone, 8 SRV, 9 CAA, 10 PTR, 11 Script, 12 NS, 13 SVCB, 14 HTTPS, 15 TLSA',
};

const VARIABLES = listOf(input({ Name: TEXT, Value: NULLABLE_TEXT }, ['Name']));

const RECORD_INPUT = input(
  {
    Type: nullable(RECORD_TYPE),
    Ttl: nullable(INT32),
    Value: NULLABLE_TEXT,
    Name: NULLABLE_TEXT,
    Weight: nullable({ type: 'integer', minimum: 0, maximum: 100 }),
    Priority: nullable({ type: 'integer', minimum: 0, maximum: 65_535 }),
    Flags: nullable({ type: 'integer', minimum: 0, maximum: 255 }),
    Tag: NULLABLE_TEXT,
    Port: nullable({ type: 'integer', minimum: 0, maximum: 65_535 }),
    PullZoneId: nullable({ type: 'integer', minimum: 0 }),
    ScriptId: nullable({ type: 'integer', minimum: 0 }),
    Accelerated: nullable(YES_OR_NO),
    GeolocationLatitude: nullable({ type: 'number', minimum: -90, maximum: 90 }),
    GeolocationLongitude: nullable({ type: 'number', minimum: -180, maximum: 180 }),
    LatencyZone: NULLABLE_TEXT,
    Disabled: nullable(YES_OR_NO),
    // The platform spells it so.
    EnviromentalVariables: nullable(VARIABLES),
    Comment: NULLABLE_TEXT,
    AutoSslIssuance: nullable(YES_OR_NO),
  },
  [],
);

export const DNS_ZONE_INPUT = input({ Domain: TEXT, Records: { type: ['array', 'null'], items: RECORD_INPUT, maxItems: 5000 } }, [
  'Domain',
]);

const RECORD = exactly({ ...(RECORD_INPUT['properties'] as Properties), Id: ID });

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

import {
  exactly,
  ID,
  input,
  type JsonSchema,
  listOf,
  NULLABLE_TEXT,
  NUMBER,
  namesOf,
  nullable,
  type Properties,
  TEXT,
  TIME,
  YES_OR_NO,
} from './json-schema.ts';
import { defineOperation, LARGE_BODY_BYTES, type OperationGroup } from './operation.ts';

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

const MONITOR_TYPES = { None: 0, Ping: 1, Http: 2, Monitor: 3 } as const;
const SMART_ROUTING_TYPES = { None: 0, Latency: 1, Geolocation: 2 } as const;

/** Numbers from 0 on that have names. Null may stand for them in a request, which an `enum` would not let it. */
function namedFromZero(numbers: Readonly<Record<string, number>>): JsonSchema {
  return { type: 'integer', minimum: 0, maximum: Math.max(...Object.values(numbers)), description: namesOf(numbers) };
}

/** An object of the platform; 0 is none. */
const OBJECT_ID: JsonSchema = { ...ID, minimum: 0 };

/** The fields of a record in an answer. A field that was left out has its default. */
const FIELDS = {
  Type: namedFromZero(RECORD_TYPES),
  Ttl: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  Value: TEXT,
  Name: TEXT,
  Weight: { type: 'integer', minimum: 0, maximum: 100 },
  Priority: { type: 'integer', minimum: 0, maximum: 65_535 },
  Flags: { type: 'integer', minimum: 0, maximum: 255 },
  Tag: TEXT,
  Port: { type: 'integer', minimum: 0, maximum: 65_535 },
  PullZoneId: OBJECT_ID,
  ScriptId: OBJECT_ID,
  Accelerated: YES_OR_NO,
  GeolocationLatitude: { type: 'number', minimum: -90, maximum: 90 },
  GeolocationLongitude: { type: 'number', minimum: -180, maximum: 180 },
  LatencyZone: TEXT,
  Disabled: YES_OR_NO,
  // The platform spells it so.
  EnviromentalVariables: listOf(exactly({ Name: TEXT, Value: TEXT })),
  Comment: TEXT,
  AutoSslIssuance: YES_OR_NO,
  MonitorType: namedFromZero(MONITOR_TYPES),
  SmartRoutingType: namedFromZero(SMART_ROUTING_TYPES),
} as const satisfies Properties;

const VARIABLES_INPUT = listOf(input({ Name: TEXT, Value: NULLABLE_TEXT }, ['Name']));

export const RECORD_INPUT = input(
  Object.fromEntries(
    Object.entries({ ...FIELDS, EnviromentalVariables: VARIABLES_INPUT }).map(([name, schema]) => [name, nullable(schema)]),
  ),
  [],
);

export const MAX_RECORDS = 5_000;

const DNS_ZONE_INPUT = input({ Domain: TEXT, Records: { type: ['array', 'null'], items: RECORD_INPUT, maxItems: MAX_RECORDS } }, [
  'Domain',
]);

const RECORD = exactly({ ...FIELDS, Id: ID });

const DNS_ZONE = exactly({
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

/** A pair of `EnviromentalVariables`. */
export interface RecordVariable {
  readonly Name: string;
  readonly Value: string;
}

/** The fields of a record that a request leaves out, or has as null. */
export const RECORD_DEFAULTS = {
  Type: RECORD_TYPES.A as number,
  Ttl: 300,
  Value: '',
  Name: '',
  Weight: 100,
  Priority: 0,
  Flags: 0,
  Tag: '',
  Port: 0,
  PullZoneId: 0,
  ScriptId: 0,
  Accelerated: false,
  GeolocationLatitude: 0,
  GeolocationLongitude: 0,
  LatencyZone: '',
  Disabled: false,
  EnviromentalVariables: [] as readonly RecordVariable[],
  Comment: '',
  AutoSslIssuance: false,
  MonitorType: 0,
  SmartRoutingType: 0,
};

const CREATED = '2026-01-01T00:40:01.500Z';

const ADDRESS = { Type: 0, Name: 'www', Value: '192.0.2.10', Ttl: 300 };
const MAIL = { Type: 4, Name: '', Value: 'mail.example.com', Ttl: 3600, Priority: 10 };

export const DNS_ZONES: OperationGroup = {
  tag: 'DNS zones',
  about: 'Zones and their records',
  schemas: { DnsZoneRequest: DNS_ZONE_INPUT, DnsZone: DNS_ZONE },
  operations: [
    defineOperation({
      number: 4,
      name: 'addDnsZone',
      summary: 'Create a DNS zone with its records',
      method: 'POST',
      path: '/dnszone',
      key: 'access',
      errorShape: 'legacy',
      params: {},
      body: DNS_ZONE_INPUT,
      bodyLimitBytes: LARGE_BODY_BYTES,
      status: 201,
      answer: DNS_ZONE,
      errors: { 400: { key: 'dnszone.name_taken', field: 'Domain', message: 'Domain: there is a zone of example.com already' } },
      idempotent: false,
      example: {
        body: { Domain: 'example.com', Records: [ADDRESS, MAIL] },
        answer: {
          Id: 1,
          Domain: 'example.com',
          Records: [
            { Id: 1, ...RECORD_DEFAULTS, ...ADDRESS },
            { Id: 2, ...RECORD_DEFAULTS, ...MAIL },
          ],
          DateModified: CREATED,
          DateCreated: CREATED,
          NameserversDetected: false,
          CustomNameserversEnabled: false,
          Nameserver1: 'ns1.shieldlog.invalid',
          Nameserver2: 'ns2.shieldlog.invalid',
          SoaEmail: 'hostmaster@example.com',
          NameserversNextCheck: '2026-01-01T01:40:01.500Z',
          LoggingEnabled: false,
          LoggingIPAnonymizationEnabled: true,
          LogAnonymizationType: 0,
          DnsSecEnabled: false,
          CertificateKeyType: 0,
        },
      },
    }),
  ],
};

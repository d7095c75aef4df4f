import type { OperationExample } from '../operation.ts';

const HOSTNAME = { Hostname: 'shop.example.com' };
const CREATED = '2026-01-01T00:40:01.500Z';

/** What a record has that the request left out. */
const RECORD_DEFAULTS = {
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
  EnviromentalVariables: [],
  Comment: '',
  AutoSslIssuance: false,
};

const ADDRESS = { Type: 0, Name: 'www', Value: '192.0.2.10', Ttl: 300 };
const MAIL = { Type: 4, Name: '', Value: 'mail.example.com', Ttl: 3600, Priority: 10 };

const VARIABLE: OperationExample = {
  params: { id: 1 },
  query: {},
  body: { Name: 'LOG_LEVEL', Required: true, DefaultValue: 'info' },
  status: 200,
  answer: { Id: 1, Name: 'LOG_LEVEL', Required: true, DefaultValue: 'info' },
};

const DNS_ZONE: OperationExample = {
  params: {},
  query: {},
  body: { Domain: 'example.com', Records: [ADDRESS, MAIL] },
  status: 201,
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
};

/** Of the operations on scripts, DNS zones and pull zones, by their names. */
export const PLATFORM_EXAMPLES = {
  upsertScriptVariable: VARIABLE,
  addDnsZone: DNS_ZONE,
  requestExternalHttpCertificate: {
    params: {},
    query: {},
    body: HOSTNAME,
    status: 200,
    answer: {
      FilePath: '/.well-known/acme-challenge/haIQyxwmwkfPxC3kUV-L_r_dKvusAYtH3UxirHiypyo',
      FileContent: 'haIQyxwmwkfPxC3kUV-L_r_dKvusAYtH3UxirHiypyo.roAMRxUVq1Z9OUQyoxe-glNI3uKaEjMwNXK0Bij0CuU',
    },
  },
  completeExternalHttpCertificate: { params: {}, query: {}, body: HOSTNAME, status: 200, answer: null },
  removeHostname: { params: { id: 1 }, query: {}, body: { Hostname: 'cdn.example.com' }, status: 204, answer: null },
} as const satisfies Readonly<Record<string, OperationExample>>;

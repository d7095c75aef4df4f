import { generateEvents } from '../../../bench/events/event-generator.ts';
import { demoEvent } from '../../../ingest/demo/demo-event.ts';
import { DEMO_ATTACKS } from '../../../ingest/demo/demo-schedule.ts';
import { seededRandom } from '../../../ingest/demo/seeded-random.ts';
import { TEXT_FIELDS, type TextField } from '../../../query/event-fields.ts';
import { type FeedEvent, readEvent } from '../../../store/feed-event.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';
import { NOW } from '../../fixtures/present.ts';

/** The parts of an event that a test gives. The log is a value or its JSON text. */
export interface EventPart extends Partial<Pick<FeedEvent, 'sequence' | 'zoneId' | 'timestamp' | 'ingestedAtMs' | 'logId' | 'fields'>> {
  readonly log?: unknown;
  readonly logJson?: string;
}

export interface NamedEvent {
  readonly name: string;
  readonly event: FeedEvent;
}

export function feedEvent({ log = {}, logJson = JSON.stringify(log), ...part }: EventPart = {}): FeedEvent {
  const basics = { sequence: 12n, zoneId: 7, timestamp: NOW, ingestedAtMs: NOW + 250, logId: 'e-1', fields: {} };
  const { sequence, ingestedAtMs, zoneId, timestamp, logId, fields } = { ...basics, ...part };
  const members = JSON.stringify({ logId, shieldZoneId: zoneId, timestamp, ...fields });
  const bytes = Buffer.from(`${members.slice(0, -1)},"log":${logJson}}`);
  return readEvent({ sequence, ingestedAtMs, bytes, start: 0, end: bytes.length });
}

/** A wire event, canonical already, as the store would give it back. */
function fromWire(line: string): FeedEvent {
  const { shieldZoneId, timestamp, logId, log, ...rest } = JSON.parse(line);
  const fields = Object.fromEntries(TEXT_FIELDS.filter((field) => rest[field] !== undefined).map((field) => [field, rest[field]]));
  return feedEvent({ zoneId: shieldZoneId, timestamp, logId, fields, log });
}

function everyField(text: string): Readonly<Record<TextField, string>> {
  return Object.fromEntries(TEXT_FIELDS.map((field) => [field, text])) as Record<TextField, string>;
}

function logOf(text: string): unknown {
  return {
    Message: text,
    RemoteIp: text,
    Headers: [
      { Name: text, Value: text },
      { Name: 'Host', Value: text },
      { Name: 'Referer', Value: text },
    ],
    TriggerMatch: { Key: text, Value: text },
  };
}

/** What the log says in other shapes than the platform's. */
const STRANGE_LOGS: readonly unknown[] = [
  { Message: 7, RemoteIp: null, Headers: 'none', TriggerMatch: [] },
  { Headers: [null, 1, 'Host', [], {}, { Name: 'Host' }, { Name: 'Host', Value: 1 }, { Name: 7, Value: 'x' }] },
  { Headers: { Host: 'shop.example.com' }, TriggerMatch: { Key: 1, Value: null } },
  { headers: [{ name: 'Host', value: 'x' }], Message: '' },
];

export const STRANGE_VALUES: Readonly<Partial<Record<TextField, readonly string[]>>> = {
  ip: [
    '10.0.0.256',
    '1.2.3',
    '010.0.0.1',
    'fe80::1%eth0',
    '::',
    '::ffff:1.2.3.4',
    '2001:DB8:0:0::1',
    `${'0000:'.repeat(5)}ffff:255.255.255.255`,
  ],
  asn: ['0', '4294967295', '4294967296', '9223372036854775807', '9223372036854775808', '9'.repeat(400), '007'],
  country: ['de', 'De', 'UK', 'EU', 'XX', 'T1', 'DEU', 'Germany', 'ﬁ'],
  ja4: ['t13d1516h2_8daaf6152771_b186095e22b6', 'T13', 't13d1516h2_8daaf6152771'],
  action: ['blocked', 'BLOCKED', 'challenged', 'logged', 'allowed', 'throttled', 'constructor', '__proto__'],
  feature: ['waf', 'WAF', 'access-list', 'something new'],
  url: [
    '/only/a/path.php?x=1#y',
    '/',
    '?x',
    '//shop.example.com/x',
    'shop.example.com/x',
    'https://',
    'https:///x',
    'https://user:pass@shop.example.com:8443/../a/./%2e%2e/b.tar.gz?#',
    'https://shop.example.com:99999/x',
    'https://shop.example.com:/x',
    'https://a b/x',
    'https://[2001:db8::1]:8443/x',
    'https://[::g]/x',
    'http://2001:db8::1/x',
    'http://10.0.0.1/x',
    'HTTPS://WWW.Shop.Example.CO.UK',
    'https://münchen.example.de/straße?q=ü',
    'https://localhost/x',
    'https://shop.example/x',
    'javascript:alert(1)',
    'ht tp://x/y',
    'https://x.example\\@evil.example/',
    'https://a@b@c.example/',
    `https://${'a.'.repeat(200)}com/`,
    `https://shop.example.com/${'x'.repeat(5000)}=\\`,
  ],
};

const generator = { seed: 5, count: 120, zones: 40, nowMs: NOW, spanMs: 60_000 };
const attacks = [null, ...DEMO_ATTACKS];
const random = seededRandom(11);

/** Events as they are, as they should not be, and as somebody who means harm would like them. */
export const CORPUS: readonly NamedEvent[] = [
  { name: 'an event with everything missing', event: feedEvent() },
  { name: 'an event whose fields are empty', event: feedEvent({ fields: everyField('') }) },
  { name: 'an event of the lowest zone and of long ago', event: feedEvent({ zoneId: -2_147_483_648, timestamp: -1 }) },
  { name: 'an event outside the days there are', event: feedEvent({ timestamp: -9_000_000_000_000_000 }) },
  { name: 'an event of a high sequence', event: feedEvent({ sequence: 2n ** 63n - 1n }) },
  { name: 'an event with a log id of 512 bytes', event: feedEvent({ logId: `${'é='.repeat(170)}ab` }) },
  { name: 'a log that is damaged', event: feedEvent({ fields: { action: 'blocked' }, logJson: '{"Message":' }) },
  { name: 'a log with long numbers', event: feedEvent({ logJson: '{"n":123456789012345678901234567890.10,"e":1e400}' }) },
  ...STRANGE_LOGS.map((log, index) => ({ name: `strange log ${index}`, event: feedEvent({ log }) })),
  ...Object.entries(STRANGE_VALUES).flatMap(([field, values]) =>
    values.map((value) => ({ name: `${field} ${value.slice(0, 60)}`, event: feedEvent({ fields: { [field]: value } }) })),
  ),
  ...HOSTILE_STRINGS.flatMap(({ name, text }) => [
    { name: `${name} in every field`, event: feedEvent({ fields: everyField(text), log: logOf(text), logId: text.slice(0, 120) || '-' }) },
    { name: `${name} in a url`, event: feedEvent({ fields: { url: `https://shop.example.com/${text}?${text}#${text}`, ip: '1.2.3.4' } }) },
    { name: `${name} as a host`, event: feedEvent({ fields: { url: `https://${text}/`, ruleId: text } }) },
  ]),
  ...Array.from(generateEvents(generator), (line, index) => ({ name: `generated event ${index}`, event: fromWire(line.toString('utf8')) })),
  ...Array.from({ length: 80 }, (_, index) => ({
    name: `demo event ${index}`,
    event: fromWire(demoEvent(`d-${index}`, NOW - index, attacks[index % attacks.length] ?? null, random)),
  })),
];

import { expect, test } from 'vitest';
import { EdgeError } from '../../../../edge/edge-error.ts';
import { invalidInput, validatorOf } from '../../../../edge/input-validation.ts';
import { readZoneRequest } from '../../../../edge/local/dns/zone-request.ts';
import type { JsonSchema } from '../../../../edge/operations/json-schema.ts';
import { operation } from '../../../../edge/operations/operations.ts';

type Fields = Readonly<Record<string, unknown>>;

const read = (record: Fields) => readZoneRequest({ Domain: 'example.com', Records: [record] }).records[0];

const A64 = 'a'.repeat(64);

/** A record, and the value as it is kept where it is not kept as given. */
const TAKEN: readonly { readonly name: string; readonly record: Fields; readonly kept?: string }[] = [
  { name: 'A', record: { Type: 0, Value: '192.0.2.1' } },
  { name: 'AAAA', record: { Type: 1, Value: '2001:DB8::1' }, kept: '2001:db8::1' },
  { name: 'AAAA with an IPv4 tail', record: { Type: 1, Value: '::ffff:192.0.2.1' } },
  { name: 'CNAME', record: { Type: 2, Value: 'Target.Example.net.' }, kept: 'target.example.net' },
  { name: 'CNAME to an international name', record: { Type: 2, Value: 'bücher.example' }, kept: 'xn--bcher-kva.example' },
  { name: 'CNAME with underscores', record: { Type: 2, Value: '_dmarc._x.example.net' } },
  { name: 'TXT', record: { Type: 3, Value: 'v=spf1 include:_spf.example.net ~all; "quoted" \\ 🙂' } },
  { name: 'MX', record: { Type: 4, Value: 'mail.example.net', Priority: 10 } },
  { name: 'MX that takes no mail', record: { Type: 4, Value: '.' } },
  { name: 'Redirect', record: { Type: 5, Value: 'https://example.net/path?a=b#c' } },
  { name: 'Flatten', record: { Type: 6, Value: 'origin.example.net' } },
  { name: 'PullZone', record: { Type: 7, PullZoneId: 3 }, kept: '' },
  { name: 'SRV', record: { Type: 8, Name: '_sip._tcp', Value: 'sip.example.net', Port: 5060, Priority: 1, Weight: 50 } },
  { name: 'SRV that is not offered', record: { Type: 8, Value: '.' } },
  { name: 'CAA issue', record: { Type: 9, Tag: 'issue', Value: 'ca.example.net; accounturi=https://ca.example.net/1', Flags: 128 } },
  { name: 'CAA for nobody', record: { Type: 9, Tag: 'issuewild', Value: ';' } },
  { name: 'CAA iodef', record: { Type: 9, Tag: 'iodef', Value: 'mailto:security@example.com' } },
  { name: 'CAA iodef by web', record: { Type: 9, Tag: 'iodef', Value: 'https://example.com/report' } },
  { name: 'CAA of another tag', record: { Type: 9, Tag: 'contactemail', Value: 'a@example.com' } },
  {
    name: 'CAA with blanks around its equals signs',
    record: { Type: 9, Tag: 'issue', Value: ' ca.example.net ; account = 230123 ; policy= ev;validationmethods =dns-01 ; empty= ' },
  },
  { name: 'PTR', record: { Type: 10, Value: 'host.example.net' } },
  { name: 'Script', record: { Type: 11, ScriptId: 4, EnviromentalVariables: [{ Name: 'A', Value: '' }] }, kept: '' },
  { name: 'NS', record: { Type: 12, Name: 'sub', Value: 'ns.example.net' } },
  { name: 'CAA with TABs', record: { Type: 9, Tag: 'issue', Value: 'ca.example.net\t;\ta\t=\tb' } },
  { name: 'CAA with nothing behind its semicolon', record: { Type: 9, Tag: 'issue', Value: 'ca.example.net ; ' } },
  { name: 'TLSA with TABs', record: { Type: 15, Value: `3\t1\t1\t${A64}` }, kept: `3 1 1 ${A64}` },
  { name: 'HTTPS with a TAB', record: { Type: 14, Value: '1  .\talpn=h2' }, kept: '1 . alpn=h2' },
  { name: 'HTTPS with its priority twice', record: { Type: 14, Value: '3 . alpn=h2', Priority: 3 } },
  { name: 'SVCB', record: { Type: 13, Value: 'svc.example.net port=8443 alpn=h2,h3', Priority: 1 } },
  {
    name: 'SVCB with its priority in front',
    record: { Type: 13, Value: '16 . mandatory=alpn  alpn="h2,h3"' },
    kept: '16 . mandatory=alpn alpn="h2,h3"',
  },
  {
    name: 'HTTPS',
    record: { Type: 14, Value: '1 . ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1 ech=AAAA key65280=x no-default-alpn alpn=h3' },
  },
  {
    name: 'HTTPS with mandatory keys, one by its number',
    record: { Type: 14, Value: '1 . mandatory=port,key1,key65280 key65280=x port=1 alpn=h2' },
  },
  { name: 'HTTPS whose mandatory keys are written as bytes', record: { Type: 14, Value: '1 . key0=\\000\\003 port=443' } },
  { name: 'HTTPS with the last key', record: { Type: 14, Value: '1 . key65534' } },
  { name: 'HTTPS alias', record: { Type: 14, Value: 'Pool.example.net.', Priority: 0 }, kept: 'pool.example.net' },
  { name: 'TLSA', record: { Type: 15, Name: '_443._tcp', Value: `3 1 1 ${A64.toUpperCase()}` }, kept: `3 1 1 ${A64}` },
  { name: 'TLSA with blanks', record: { Type: 15, Value: `  3  1 1 ${'AAAA aaaa  '.repeat(8)} ` }, kept: `3 1 1 ${A64}` },
  { name: 'TLSA of a whole certificate with a blank inside a byte', record: { Type: 15, Value: '2 0 0 3 0 8 2' }, kept: '2 0 0 3082' },
  { name: 'TLSA of a whole certificate', record: { Type: 15, Value: '2 0 0 30820122' } },
];

test.each(TAKEN)('$name is taken', ({ record, kept }) => {
  expect(read(record)?.Value).toBe(kept ?? record['Value']);
});

test.each(TAKEN)('$name is kept as it is when it is sent in again as it was kept', ({ record }) => {
  const kept = read(record);
  expect(read({ ...kept })).toEqual(kept);
});

/** A record, and the field at fault. */
const REFUSED: readonly (readonly [string, Fields, string])[] = [
  ['A with an IPv6 address', { Type: 0, Value: '::1' }, 'Value'],
  ['A with three numbers', { Type: 0, Value: '192.0.2' }, 'Value'],
  ['A with a leading zero', { Type: 0, Value: '192.0.02.1' }, 'Value'],
  ['A without a value', { Type: 0 }, 'Value'],
  ['AAAA with an IPv4 address', { Type: 1, Value: '192.0.2.1' }, 'Value'],
  ['AAAA with a zone index', { Type: 1, Value: 'fe80::1%eth0' }, 'Value'],
  ['CNAME to an address', { Type: 2, Value: '192.0.2.1' }, 'Value'],
  ['CNAME to a web address', { Type: 2, Value: 'https://example.net' }, 'Value'],
  ['CNAME to nothing', { Type: 2, Value: '' }, 'Value'],
  ['CNAME to the root', { Type: 2, Value: '.' }, 'Value'],
  ['TXT that is empty', { Type: 3, Value: '' }, 'Value'],
  ['TXT with a line break', { Type: 3, Value: 'a\nb' }, 'Value'],
  ['TXT past 4,096 bytes', { Type: 3, Value: 'ä'.repeat(2_049) }, 'Value'],
  ['MX with its priority in the value', { Type: 4, Value: '10 mail.example.net' }, 'Value'],
  ['Redirect to a script', { Type: 5, Value: 'javascript:alert(1)' }, 'Value'],
  ['Redirect to a path', { Type: 5, Value: '/path' }, 'Value'],
  ['Redirect with a password', { Type: 5, Value: 'https://u:p@example.net' }, 'Value'],
  ['Flatten to an address', { Type: 6, Value: '192.0.2.1' }, 'Value'],
  ['PullZone of none', { Type: 7, Value: 'x' }, 'PullZoneId'],
  ['SRV without a port', { Type: 8, Value: 'sip.example.net' }, 'Port'],
  ['SRV to an address', { Type: 8, Value: '192.0.2.1', Port: 1 }, 'Value'],
  ['CAA without a tag', { Type: 9, Value: 'ca.example.net' }, 'Tag'],
  ['CAA with a hyphen in its tag', { Type: 9, Tag: 'is-sue', Value: 'ca.example.net' }, 'Tag'],
  ['CAA with an upper-case tag and no name', { Type: 9, Tag: 'ISSUE', Value: 'not a name' }, 'Value'],
  ['CAA with a blank inside a value', { Type: 9, Tag: 'issue', Value: 'ca.example.net; a = b c' }, 'Value'],
  ['CAA with a blank inside the tag of a parameter', { Type: 9, Tag: 'issue', Value: 'ca.example.net; a b = c' }, 'Value'],
  ['CAA without a value', { Type: 9, Tag: 'issue' }, 'Value'],
  ['CAA for an issuer that is no name', { Type: 9, Tag: 'issue', Value: 'not a name' }, 'Value'],
  ['CAA with a loose parameter', { Type: 9, Tag: 'issue', Value: 'ca.example.net; validation' }, 'Value'],
  ['CAA for an issuer in Unicode', { Type: 9, Tag: 'issue', Value: 'b\u00fccher.de' }, 'Value'],
  ['CAA for an issuer with an underscore', { Type: 9, Tag: 'issue', Value: 'ca_x.org' }, 'Value'],
  ['CAA for an issuer with a final dot', { Type: 9, Tag: 'issue', Value: 'ca.org.' }, 'Value'],
  ['CAA with an empty parameter', { Type: 9, Tag: 'issue', Value: 'ca.org;; a=1' }, 'Value'],
  ['CAA that ends with another semicolon', { Type: 9, Tag: 'issue', Value: 'ca.org; a=b;' }, 'Value'],
  ['CAA for nobody twice', { Type: 9, Tag: 'issue', Value: ';;' }, 'Value'],
  ['HTTPS with two priorities', { Type: 14, Value: '2 . alpn=h2', Priority: 1 }, 'Value'],
  ['HTTPS alias with another priority', { Type: 14, Value: '0 x.example', Priority: 5 }, 'Value'],
  ['an address with a TAB', { Type: 0, Value: '192.0.2.1\t' }, 'Value'],
  ['TXT with a TAB', { Type: 3, Value: 'a\tb' }, 'Value'],
  ['CAA iodef to a name', { Type: 9, Tag: 'iodef', Value: 'example.com' }, 'Value'],
  ['PTR to an address', { Type: 10, Value: '192.0.2.1' }, 'Value'],
  ['Script of none', { Type: 11 }, 'ScriptId'],
  ['NS to an address', { Type: 12, Value: '192.0.2.1' }, 'Value'],
  ['SVCB without a target', { Type: 13, Value: '1' }, 'Value'],
  ['SVCB with an unknown key', { Type: 13, Value: '1 . colour=red' }, 'Value'],
  ['SVCB with a key twice', { Type: 13, Value: '1 . port=1 port=2' }, 'Value'],
  ['HTTPS with a key twice, once by its number', { Type: 14, Value: '1 . ipv4hint=192.0.2.1 key4=x' }, 'Value'],
  ['HTTPS with a number twice', { Type: 14, Value: '1 . key65280=x key65280=y' }, 'Value'],
  ['HTTPS with what is no key', { Type: 14, Value: '1 . key65535=x' }, 'Value'],
  ['HTTPS without its mandatory key', { Type: 14, Value: '1 . mandatory=ech alpn=h2' }, 'Value'],
  ['HTTPS without its mandatory key by number', { Type: 14, Value: '1 . mandatory=key65280 alpn=h2' }, 'Value'],
  ['HTTPS with mandatory mandatory', { Type: 14, Value: '1 . mandatory=mandatory' }, 'Value'],
  ['HTTPS with mandatory mandatory by number', { Type: 14, Value: '1 . mandatory=key0' }, 'Value'],
  ['HTTPS with a mandatory key twice', { Type: 14, Value: '1 . mandatory=alpn,key1 alpn=h2' }, 'Value'],
  ['HTTPS with no mandatory key', { Type: 14, Value: '1 . mandatory alpn=h2' }, 'Value'],
  ['HTTPS with no-default-alpn and no alpn', { Type: 14, Value: '1 . no-default-alpn port=1' }, 'Value'],
  ['SVCB with a port past 65535', { Type: 13, Value: '1 . port=70000' }, 'Value'],
  ['SVCB whose priority is past 65535', { Type: 13, Value: '70000 .' }, 'Value'],
  ['HTTPS with an IPv6 hint for IPv4', { Type: 14, Value: '1 . ipv4hint=::1' }, 'Value'],
  ['HTTPS alias with parameters', { Type: 14, Value: '. alpn=h2', Priority: 0 }, 'Value'],
  ['HTTPS with an unclosed quote', { Type: 14, Value: '1 . alpn="h2' }, 'Value'],
  ['TLSA with a usage of 4', { Type: 15, Value: `4 1 1 ${A64}` }, 'Value'],
  ['TLSA whose SHA-256 is short', { Type: 15, Value: '3 1 1 abcd' }, 'Value'],
  ['TLSA without data', { Type: 15, Value: '3 1 0 ' }, 'Value'],
  ['TLSA with a blank between usage and selector missing', { Type: 15, Value: `31 1 ${A64}` }, 'Value'],
  ['TLSA with half a byte', { Type: 15, Value: '3 1 0 abc' }, 'Value'],
  ['a comment with a NUL', { Value: '192.0.2.1', Comment: 'a\u0000' }, 'Comment'],
  ['a variable whose name is empty', { Type: 11, ScriptId: 1, EnviromentalVariables: [{ Name: '' }] }, 'EnviromentalVariables[0].Name'],
  ['an absolute name of another zone', { Value: '192.0.2.1', Name: 'www.example.net.' }, 'Name'],
  ['an absolute name whose end only looks like the zone', { Value: '192.0.2.1', Name: 'notexample.com.' }, 'Name'],
  ['a label with a dot', { Value: '192.0.2.1', Name: 'www.' }, 'Name'],
  ['the root', { Value: '192.0.2.1', Name: '.' }, 'Name'],
  ['an empty label before the zone', { Value: '192.0.2.1', Name: '.example.com' }, 'Name'],
  ['a star in the middle', { Value: '192.0.2.1', Name: 'a.*.b' }, 'Name'],
  ['a name with a blank', { Value: '192.0.2.1', Name: 'a b' }, 'Name'],
  ['a name past 253 characters with its zone', { Value: '192.0.2.1', Name: 'a.'.repeat(121).concat('a') }, 'Name'],
];

test.each(REFUSED)('%s is refused, and what is allowed is said', (_, record, field) => {
  let fault: unknown;
  try {
    read(record);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(EdgeError);
  expect(fault).toMatchObject({ status: 400, key: 'dnszone.record_invalid', field: `Records[0].${field}` });
  expect((fault as Error).message).toMatch(/allowed:|is there twice/);
});

test.each([
  ['', ''],
  ['@', ''],
  ['WWW', 'www'],
  ['*', '*'],
  ['*.Dev', '*.dev'],
  ['_sip._tcp', '_sip._tcp'],
  ['1', '1'],
  ['bücher', 'xn--bcher-kva'],
  ['www.example.com', 'www'],
  ['www.example.com.', 'www'],
  ['WWW.Example.COM.', 'www'],
  ['example.com', ''],
  ['example.com.', ''],
  ['*.example.com.', '*'],
  ['*.dev.example.com', '*.dev'],
  ['_sip._tcp.example.com', '_sip._tcp'],
  ['bücher.example.com.', 'xn--bcher-kva'],
  ['notexample.com', 'notexample.com'],
  ['example.com.example.com', 'example.com'],
  ['example.net', 'example.net'],
])('the name %j is kept as %j', (given, kept) => {
  expect(read({ Value: '192.0.2.1', Name: given })?.Name).toBe(kept);
});

test.each([
  ['www.xn--exmple-cua.com', 'www'],
  ['www.exämple.com.', 'www'],
  ['EXÄMPLE.com', ''],
])('in the zone exämple.com the name %j is kept as %j', (Name, kept) => {
  const [record] = readZoneRequest({ Domain: 'exämple.com', Records: [{ Value: '192.0.2.1', Name }] }).records;
  expect(record?.Name).toBe(kept);
});

test('a name in no zone of ours is told to be written relative to its zone', () => {
  expect(() => read({ Value: '192.0.2.1', Name: 'www.example.net.' })).toThrow(
    'Records[0].Name: "www.example.net." ends with a dot and is not in example.com; allowed: a name relative to example.com, such as "www"',
  );
});

test.each(['ISSUE', 'Issue', 'issue'])('the tag %s is kept in lower case', (Tag) => {
  expect(read({ Type: 9, Tag, Value: 'ca.example.net' })?.Tag).toBe('issue');
});

/** A record whose field has a type or a range that no record has, and that field. */
const OUT_OF_RANGE: readonly (readonly [string, Fields, string])[] = [
  ['a type past the last', { Type: 16, Value: '' }, 'Type'],
  ['a type below the first', { Type: -1, Value: '' }, 'Type'],
  ['a type between two', { Type: 0.5, Value: '192.0.2.1' }, 'Type'],
  ['a type by name', { Type: 'A', Value: '192.0.2.1' }, 'Type'],
  ['a weight of 101', { Value: '192.0.2.1', Weight: 101 }, 'Weight'],
  ['a weight of -1', { Value: '192.0.2.1', Weight: -1 }, 'Weight'],
  ['flags of 256', { Value: '192.0.2.1', Flags: 256 }, 'Flags'],
  ['a priority of 65536', { Value: '192.0.2.1', Priority: 65_536 }, 'Priority'],
  ['half a port', { Value: '192.0.2.1', Port: 1.5 }, 'Port'],
  ['a negative Ttl', { Value: '192.0.2.1', Ttl: -1 }, 'Ttl'],
  ['a latitude past the pole', { Value: '192.0.2.1', GeolocationLatitude: 90.1 }, 'GeolocationLatitude'],
  ['a longitude past 180', { Value: '192.0.2.1', GeolocationLongitude: -180.1 }, 'GeolocationLongitude'],
  ['text for a flag', { Value: '192.0.2.1', Disabled: 'true' }, 'Disabled'],
  ['a variable without a name', { Type: 11, ScriptId: 1, EnviromentalVariables: [{ Value: 'x' }] }, 'EnviromentalVariables[0].Name'],
  ['a script past what a number can tell', { Type: 11, ScriptId: 2 ** 53 }, 'ScriptId'],
  ['a variable that is no object', { Type: 11, ScriptId: 1, EnviromentalVariables: ['A'] }, 'EnviromentalVariables[0]'],
];

test.each(OUT_OF_RANGE)('%s is refused by the schema of the request', (_, record, field) => {
  const failures = validatorOf(operation(4).body as JsonSchema)({ Domain: 'example.com', Records: [record] });
  const told = [{ field: `Records[0].${field}`, message: expect.any(String) }];
  expect(invalidInput(failures ?? [], 'body')).toMatchObject({ status: 400, key: 'request.invalid', errors: told });
});

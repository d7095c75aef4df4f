import { describe, expect, test } from 'vitest';
import { EdgeError } from '../../../../edge/edge-error.ts';
import { readZoneRequest } from '../../../../edge/local/dns/zone-request.ts';

type Fields = Readonly<Record<string, unknown>>;

const A = { Type: 0, Name: 'www', Value: '192.0.2.1' };
const TXT = { Type: 3, Name: 'www', Value: 'text' };
const CNAME = { Type: 2, Name: 'www', Value: 'target.example.net' };
const MX = { Type: 4, Name: 'www', Value: 'mail.example.net', Priority: 10 };
const NULL_MX = { Type: 4, Name: 'www', Value: '.' };
const NS = { Type: 12, Name: 'www', Value: 'ns1.example.net' };
const SRV = { Type: 8, Name: '_sip._tcp', Value: 'sip.example.net', Port: 5060, Priority: 1 };
const OFF = { Disabled: true };

/** The fault of a zone with these records; null where it is taken. */
function faultOf(...Records: readonly Fields[]): unknown {
  try {
    readZoneRequest({ Domain: 'example.com', Records });
    return null;
  } catch (error) {
    return error;
  }
}

const ONE_CNAME = 'one CNAME alone at its name (RFC 1034, 3.6.2), disabled records aside';
const EACH_ONCE = 'each record once, Ttl, Comment and disabled records aside';
const ONE_MX = 'an MX of "." as the only MX of its name (RFC 7505, 3), disabled records aside';

describe('records that cannot be served together are refused, and both are named', () => {
  test.each<readonly [string, readonly Fields[], string]>([
    ['a CNAME beside an address', [A, CNAME], `Records[1]: CNAME at "www" stands beside Records[0], A; allowed: ${ONE_CNAME}`],
    ['an address beside a CNAME', [CNAME, A], `Records[0]: CNAME at "www" stands beside Records[1], A; allowed: ${ONE_CNAME}`],
    [
      'two CNAMEs',
      [CNAME, { ...CNAME, Value: 'b.example.net' }],
      `Records[0]: CNAME at "www" stands beside Records[1], CNAME; allowed: ${ONE_CNAME}`,
    ],
    ['a CNAME twice', [CNAME, CNAME], `Records[0]: CNAME at "www" stands beside Records[1], CNAME; allowed: ${ONE_CNAME}`],
    [
      'a CNAME beside a text',
      [{ ...TXT, Name: 'a' }, TXT, CNAME],
      `Records[2]: CNAME at "www" stands beside Records[1], TXT; allowed: ${ONE_CNAME}`,
    ],
    [
      'a CNAME beside a redirect',
      [{ Type: 5, Name: 'www', Value: 'https://example.net' }, CNAME],
      `Records[1]: CNAME at "www" stands beside Records[0], Redirect; allowed: ${ONE_CNAME}`,
    ],
    [
      'one name written in three ways',
      [{ ...A, Name: 'WWW.example.com.' }, CNAME],
      `Records[1]: CNAME at "www" stands beside Records[0], A; allowed: ${ONE_CNAME}`,
    ],
    [
      'the zone itself',
      [
        { ...A, Name: '@' },
        { ...CNAME, Name: 'example.com' },
      ],
      `Records[1]: CNAME at "@" stands beside Records[0], A; allowed: ${ONE_CNAME}`,
    ],
    [
      'a wildcard',
      [
        { ...A, Name: '*' },
        { ...CNAME, Name: '*.example.com' },
      ],
      `Records[1]: CNAME at "*" stands beside Records[0], A; allowed: ${ONE_CNAME}`,
    ],
    ['no mail beside mail', [MX, NULL_MX], `Records[1]: MX at "www" stands beside Records[0], MX; allowed: ${ONE_MX}`],
    ['mail beside no mail', [A, NULL_MX, MX], `Records[1]: MX at "www" stands beside Records[2], MX; allowed: ${ONE_MX}`],
    ['an address twice', [A, TXT, A], `Records[2]: A at "www" stands beside Records[0], A; allowed: ${EACH_ONCE}`],
    [
      'an address twice in other words',
      [A, { ...A, Type: null, Name: 'WWW.example.com.', Ttl: 60, Comment: 'once more', Weight: 100 }],
      `Records[1]: A at "www" stands beside Records[0], A; allowed: ${EACH_ONCE}`,
    ],
    [
      'an address of IPv6 twice',
      ['2001:db8::1', '2001:DB8::1'].map((Value) => ({ Type: 1, Name: '', Value })),
      `Records[1]: AAAA at "@" stands beside Records[0], AAAA; allowed: ${EACH_ONCE}`,
    ],
    ['mail at a host twice', [MX, MX], `Records[1]: MX at "www" stands beside Records[0], MX; allowed: ${EACH_ONCE}`],
    ['a text twice, and a third time', [TXT, TXT, TXT], `Records[1]: TXT at "www" stands beside Records[0], TXT; allowed: ${EACH_ONCE}`],
    ['a service twice', [SRV, A, SRV], `Records[2]: SRV at "_sip._tcp" stands beside Records[0], SRV; allowed: ${EACH_ONCE}`],
    ['a name server twice', [NS, NS], `Records[1]: NS at "www" stands beside Records[0], NS; allowed: ${EACH_ONCE}`],
    ['no mail twice', [NULL_MX, NULL_MX], `Records[0]: MX at "www" stands beside Records[1], MX; allowed: ${ONE_MX}`],
  ])('%s', (_, records, message) => {
    const fault = faultOf(...records);
    expect(fault).toBeInstanceOf(EdgeError);
    expect(fault).toMatchObject({ status: 400, key: 'dnszone.record_invalid', message, field: message.split(':')[0] });
  });
});

test.each<readonly [string, readonly Fields[]]>([
  ['a CNAME at another name', [A, { ...CNAME, Name: 'a' }]],
  ['a CNAME below the name', [A, { ...CNAME, Name: 'a.www' }]],
  ['a CNAME beside a wildcard', [{ ...A, Name: '*' }, CNAME]],
  ['a disabled CNAME beside an address', [A, { ...CNAME, ...OFF }]],
  ['a CNAME beside disabled records', [{ ...A, ...OFF }, CNAME, { ...CNAME, ...OFF }]],
  ['a CNAME beside a flattened name elsewhere', [CNAME, { Type: 6, Name: '', Value: 'origin.example.net' }]],
  ['mail at two hosts', [MX, { ...MX, Value: 'mail2.example.net' }]],
  ['no mail beside an address', [A, NULL_MX, TXT]],
  ['no mail at two names', [NULL_MX, { ...NULL_MX, Name: '' }, { ...MX, Name: 'a' }]],
  ['no mail beside disabled mail', [NULL_MX, { ...MX, ...OFF }]],
  ['disabled no mail beside mail', [{ ...NULL_MX, ...OFF }, MX]],
  ['one address at two names', [A, { ...A, Name: 'a' }, { ...A, Name: '*' }]],
  ['one value of two types', [TXT, { ...TXT, Type: 12, Value: 'text.example' }, { ...TXT, Value: 'text.example' }]],
  ['mail at one host with two priorities', [MX, { ...MX, Priority: 20 }]],
  ['a service at two ports', [SRV, { ...SRV, Port: 5061 }]],
  ['one address for two places', [A, { ...A, SmartRoutingType: 2, GeolocationLatitude: 50 }]],
  ['texts that differ in case', [TXT, { ...TXT, Value: 'TEXT' }]],
  ['an address beside disabled ones', [A, { ...A, ...OFF }, { ...A, ...OFF }]],
  ['name servers below the zone', [NS, { ...NS, Value: 'ns2.example.net' }, { ...NS, Name: 'a.www' }, { ...NS, Name: '*' }]],
  ['a disabled name server of the zone', [{ ...NS, Name: '', ...OFF }]],
  ['addresses and texts of one name', [A, { ...A, Value: '192.0.2.2' }, TXT, { ...TXT, Value: 'b' }]],
])('%s: the zone is taken', (_, records) => {
  expect(faultOf(...records)).toBeNull();
});

test.each(['', '@', 'example.com', 'EXAMPLE.com.', null])('a name server of the zone itself, at %j, is refused', (Name) => {
  expect(faultOf(A, { ...NS, Name })).toMatchObject({
    status: 400,
    key: 'dnszone.record_invalid',
    field: 'Records[1].Name',
    message: `Records[1].Name: NS at "@" stands beside the name servers that the zone has; allowed: NS at names below the zone's own`,
  });
});

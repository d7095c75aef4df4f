import { describe, expect, test } from 'vitest';
import { EdgeError } from '../../../../edge/edge-error.ts';
import { readZoneRequest } from '../../../../edge/local/dns/zone-request.ts';

type Fields = Readonly<Record<string, unknown>>;

const A = { Type: 0, Name: 'www', Value: '192.0.2.1' };
const TXT = { Type: 3, Name: 'www', Value: 'text' };
const CNAME = { Type: 2, Name: 'www', Value: 'target.example.net' };
const MX = { Type: 4, Name: 'www', Value: 'mail.example.net', Priority: 10 };
const NULL_MX = { Type: 4, Name: 'www', Value: '.' };
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
  ['addresses and texts of one name', [A, { ...A, Value: '192.0.2.2' }, TXT, { ...TXT, Value: 'b' }]],
])('%s: the zone is taken', (_, records) => {
  expect(faultOf(...records)).toBeNull();
});

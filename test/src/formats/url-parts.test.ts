import { describe, expect, test } from 'vitest';
import { parseAuthority, urlParts } from '../../../src/formats/url-parts.ts';

/** Scheme, host, port, path, query, fragment, extension. */
type Parts = readonly (string | number | undefined)[];

const NOTHING: Parts = Array.from({ length: 7 }, () => undefined);

describe('a url is taken apart as it is written:', () => {
  test.each<[url: string, parts: Parts]>([
    ['https://shop.example.com/a?b#c', ['https', 'shop.example.com', undefined, '/a', 'b', 'c', undefined]],
    ['HTTPS://Shop.Example.com:8443', ['https', 'shop.example.com', 8443, undefined, undefined, undefined, undefined]],
    ['https://shop.example.com?b', ['https', 'shop.example.com', undefined, undefined, 'b', undefined, undefined]],
    [
      'https://shop.example.com/..%2f/./x.TAR.gz',
      ['https', 'shop.example.com', undefined, '/..%2f/./x.TAR.gz', undefined, undefined, 'gz'],
    ],
    ['https://shop.example.com/.env', ['https', 'shop.example.com', undefined, '/.env', undefined, undefined, undefined]],
    ['https://u:p@shop.example.com/', ['https', 'shop.example.com', undefined, '/', undefined, undefined, undefined]],
    ['https://[2001:DB8::1]:1/', ['https', '[2001:db8::1]', 1, '/', undefined, undefined, undefined]],
    ['https://münchen.example.de/', ['https', 'münchen.example.de', undefined, '/', undefined, undefined, undefined]],
    ['/a/b.php?x=/c.png#d', [undefined, undefined, undefined, '/a/b.php', 'x=/c.png', 'd', 'php']],
    ['/a?', [undefined, undefined, undefined, '/a', '', undefined, undefined]],
    [
      'https://shop.example.com\\@evil.example.com/',
      ['https', 'shop.example.com', undefined, '\\@evil.example.com/', undefined, undefined, undefined],
    ],
    ['//shop.example.com/a', NOTHING],
    ['shop.example.com/a', NOTHING],
    ['https://', NOTHING],
    ['https://a b/', NOTHING],
    ['https://-a/', NOTHING],
    ['https://shop.example.com:65536/', NOTHING],
    ['https://shop.example.com:x/', NOTHING],
    ['https://2001:db8::1/', NOTHING],
    ['https://[10.0.0.1]/', NOTHING],
    ['https://x@y@shop.example.com/', NOTHING],
    ['1https://shop.example.com/', NOTHING],
    ['', NOTHING],
  ])('%s', (original, parts) => {
    const { scheme, host, port, path, query, fragment, extension } = urlParts(original, parseAuthority);
    expect([scheme, host?.name, port, path, query, fragment, extension]).toEqual(parts);
  });
});

describe('a host below a public suffix has a registered domain:', () => {
  test.each([
    ['www.shop.example.co.uk', 'example.co.uk', 'co.uk', 'www.shop'],
    ['example.com', 'example.com', 'com', undefined],
    ['co.uk', undefined, undefined, undefined],
    ['shop.example', undefined, undefined, undefined],
    ['localhost', undefined, undefined, undefined],
    ['10.0.0.1', undefined, undefined, undefined],
  ])('%s', (name, registered, topLevel, subdomain) => {
    const host = parseAuthority(name)?.host;
    expect([host?.name, host?.registeredDomain, host?.topLevelDomain, host?.subdomain]).toEqual([name, registered, topLevel, subdomain]);
  });
});

test('a password is in no part of a url', () => {
  expect(parseAuthority('anna:secret@shop.example.com')).toMatchObject({ username: 'anna' });
  expect(JSON.stringify(parseAuthority('anna:secret@shop.example.com'))).not.toContain('secret');
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cefWriter } from '../../../src/formats/cef-format.ts';
import { NOW } from '../../fixtures/present.ts';
import { parseCef } from './cef-rules.ts';
import { type EventPart, feedEvent } from './feed-events.ts';
import { JA4, UA, WHOLE_EVENT, WHOLE_URL } from './whole-event.ts';

const cefOf = (part: EventPart) => parseCef(cefWriter()(feedEvent(part)));
const valueIn = (key: string, part: EventPart) => cefOf(part).extension.get(key);

test('an event that has everything becomes a whole line', () => {
  expect(cefWriter()(WHOLE_EVENT)).toBe(
    [
      'CEF:0|shieldlog|shieldlog|0.1.0|942100|SQL injection|6|',
      `rt=${NOW} deviceCustomDate1=${NOW + 250} deviceCustomDate1Label=Ingested deviceExternalId=7 externalId=e-1`,
      ' act=blocked outcome=failure cat=waf msg=Matched a phrase src=203.0.113.9 cn1=64500 cn1Label=Source AS number',
      ` cs2=de cs2Label=Source country requestClientApplication=${UA} requestContext=https://news.example.org/`,
      ` request=${WHOLE_URL.replace('=', '\\=')} app=https dhost=www.shop.example.co.uk dpt=8443`,
      ` cs1=${JA4} cs1Label=JA4 cs4=ARGS:q: 1 union cs4Label=Match`,
    ].join(''),
  );
});

describe('the header names the rule, or what there is instead:', () => {
  test.each<[fields: EventPart['fields'] & object, classId: string, name: string, severity: string]>([
    [{ ruleId: '1', ruleName: 'n', feature: 'waf', action: 'challenged' }, '1', 'n', '3'],
    [{ feature: 'waf', action: 'logged' }, 'waf', 'waf logged', '3'],
    [{ action: 'allowed' }, 'event', 'allowed', '1'],
    [{}, 'event', 'Shield event', 'Unknown'],
    [{ ruleId: 'a|b\\c', ruleName: 'two\nlines|' }, 'a|b\\c', 'two lines|', 'Unknown'],
  ])('%j', (fields, classId, name, severity) => {
    expect(cefOf({ fields }).header.slice(3)).toEqual([classId, name, severity]);
  });
});

describe('a value comes back as it was:', () => {
  test.each([['a=b'], ['\\'], ['C:\\x\\n'], ['two\nlines\r\n.'], ['a|b'], ['x act=allowed src=1.1.1.1'], ['ünï 🦆']])('%j', (ua) => {
    expect(valueIn('requestClientApplication', { fields: { ua } })).toBe(ua);
    expect(valueIn('act', { fields: { ua } })).toBeUndefined();
  });
});

describe('a value is cut where the standard ends, between two characters:', () => {
  test.each([
    ['act', 'action', 'x'.repeat(100), 'x'.repeat(63)],
    ['act', 'action', 'é'.repeat(100), 'é'.repeat(31)],
    ['act', 'action', `x${'🦆'.repeat(100)}`, `x${'🦆'.repeat(15)}`],
    ['act', 'action', '='.repeat(100), '='.repeat(63)],
    ['requestClientApplication', 'ua', 'x'.repeat(5000), 'x'.repeat(1023)],
    ['request', 'url', `/${'x'.repeat(5000)}`, `/${'x'.repeat(1022)}`],
    ['cs1', 'ja4', 'x'.repeat(5000), 'x'.repeat(4000)],
  ])('%s of %s', (key, field, text, cut) => {
    expect(valueIn(key, { fields: { [field]: text } })).toBe(cut);
  });
});

test('a control character that has no escape becomes a blank', () => {
  expect(valueIn('requestClientApplication', { fields: { ua: 'a\u0000b\u0085c\u2028d\te' } })).toBe('a b c d\te');
});

describe('what does not fit a key with a type is in a custom text:', () => {
  test.each<[fields: EventPart['fields'] & object, pairs: Readonly<Record<string, string>>]>([
    [{ ip: '2001:db8::1' }, { c6a2: '2001:db8::1', c6a2Label: 'Source IPv6 Address' }],
    [{ ip: '192.0.2.*' }, { cs3: '192.0.2.*', cs3Label: 'Source address' }],
    [{ ip: '10.0.0.256' }, { cs3: '10.0.0.256', cs3Label: 'Source address' }],
    [{ asn: '9'.repeat(30) }, { cs5: '9'.repeat(30), cs5Label: 'Source AS' }],
  ])('%j', (fields, pairs) => {
    const { extension } = cefOf({ fields });
    expect(Object.fromEntries(extension)).toMatchObject(pairs);
    expect([...extension.keys()].filter((key) => key === 'src' || key === 'cn1')).toEqual([]);
  });
});

describe('an IPv4 address in its IPv6 form is the source as a dotted quad:', () => {
  test.each(['::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4'])('%s', (ip) => {
    expect(valueIn('src', { fields: { ip } })).toBe('1.2.3.4');
    expect(valueIn('c6a2', { fields: { ip } })).toBeUndefined();
  });
});

test('a log id longer than externalId is there as a digest and as a whole', () => {
  const logId = 'x'.repeat(41);
  const { extension } = cefOf({ logId });
  expect(extension.get('externalId')).toBe(createHash('sha256').update(logId).digest('hex').slice(0, 32));
  expect(extension.get('cs6')).toBe(logId);
  expect(valueIn('externalId', { logId: 'x'.repeat(40) })).toBe('x'.repeat(40));
});

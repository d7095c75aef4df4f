import { describe, expect, test } from 'vitest';
import { generateEvents } from '../../../bench/events/event-generator.ts';
import { demoEvent } from '../../../ingest/demo/demo-event.ts';
import { DEMO_ATTACKS } from '../../../ingest/demo/demo-schedule.ts';
import { seededRandom } from '../../../ingest/demo/seeded-random.ts';
import { columnIndex } from '../../../query/batch-columns.ts';
import { EVENT_FIELDS } from '../../../query/event-fields.ts';
import { kernelConversion, scannedConversion } from './conversions.ts';
import { LONGEST_KERNEL_EVENT, nested, ofBytes, withIp, withLog } from './kernel-events.ts';
import { HOUR, NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const everyField = rawEvent({
  ...Object.fromEntries(EVENT_FIELDS.map(({ name }) => [name, `of ${name}`])),
  shieldZoneId: 7,
  timestamp: NOW,
  ip: '203.0.113.9',
  asn: '64500',
  log: { a: 1 },
});
const ADDRESS = [columnIndex('ipHigh'), columnIndex('ipLow')];
/** The log first, in the middle, last. */
const withLogAt = (index: number) => {
  const members = ['"logId":"a"', '"shieldZoneId":7', `"timestamp":${NOW}`, '"ip":"1.2.3.4"'];
  return `{${members.toSpliced(index, 0, '"log":{"a":["",{}]}').join(',')}}`;
};

describe('the kernel writes the same columns and log as the scanner of an event', () => {
  test.each<[what: string, event: string]>([
    ['with the least there can be', rawEvent()],
    ['with every field', everyField],
    ['with the fields the other way round', JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(everyField)).reverse()))],
    ['with the log first', withLogAt(0)],
    ['with the log second', withLogAt(1)],
    ['with the log in the middle', withLogAt(2)],
    ['with the log last', withLogAt(4)],
    ['with blanks everywhere', withLogAt(2).replaceAll(/[{}:,]/g, '  $& ')],
    ['with the log first, among blanks', withLogAt(0).replaceAll(/[{}:,]/g, ' $& ')],
    ['with blanks around it', `  ${rawEvent()} `],
    ['of the largest zone', rawEvent({ shieldZoneId: 2 ** 31 - 1 })],
    ['of zone 0', rawEvent({ shieldZoneId: 0 })],
    ['10 minutes ahead', rawEvent({ timestamp: NOW + 600_000 })],
    ['as old as the retention', rawEvent({ timestamp: NOW - RULES.retentionMs })],
    ['with the shortest logId', rawEvent({ logId: 'x' })],
    ['with the longest logId', rawEvent({ logId: 'x'.repeat(512) })],
    ['without a logId', rawEvent({ logId: undefined, ip: '::1' })],
    ['without a logId, among blanks', ` ${rawEvent({ logId: undefined })}  `],
    ['without a logId, the log first', `{"log":{},"shieldZoneId":7,"timestamp":${NOW}}`],
    ['with a logId in escapes', rawEvent({ logId: '\n' })],
    ['with a logId that is not ASCII', rawEvent({ logId: 'é' })],
    ...[
      '0123456789abcdef0f1e2d3c4b5a6978',
      '0123456789ABCDEF0f1e2d3c4b5a6978',
      'f123456789abcdef0f1e2d3c4b5a697',
      '0123456789abcdef0f1e2d3c4b5a697g',
      '/123456789abcdef0f1e2d3c4b5a6978',
      '0123456789abcde:0f1e2d3c4b5a6978',
      '0123456789abcdef`f1e2d3c4b5a6978',
      '0123456789abcdef0f1e2d3c4b5a6978f',
      '01234567-89ab-cdef-0f1e-2d3c4b5a6978',
      '01234567-89ab-cdef-0f1e-2d3c4b5a697F',
      '01234567-89ab-cdef-0f1e-2d3c4b5a697-',
      '01234567089ab-cdef-0f1e-2d3c4b5a6978',
      '01234567-89ab0cdef-0f1e-2d3c4b5a6978',
      '01234567-89ab-cdef00f1e-2d3c4b5a6978',
      '01234567-89ab-cdef-0f1e02d3c4b5a6978',
      '0123456-789ab-cdef-0f1e-2d3c4b5a6978',
      '01234567-89ab-cdef-0f1e2-d3c4b5a6978',
      '0123456789abcdef0f1e2d3c4b5a69781234',
      '89ab-cdef-0f1e-2d3c4b5a697801234',
      '-',
    ].map((logId): [string, string] => [`with the logId ${logId}`, rawEvent({ logId, url: '/' })]),
    ['with a logId of digits in escapes', rawEvent().replace('"a"', '"\\u0030123456789abcdef0f1e2d3c4b5a6978"')],
    ...['', '?', '/?', '?a', '/a?b?c', '/A', '/A?', '/a?A', '/a?@Z', '/a?[', '/é', '/é?', '/a?é', '/a\u0080?b\uffff', '//'].map(
      (url): [string, string] => [`with the url "${url}"`, rawEvent({ url, ua: '?A' })],
    ),
    ['with a question mark and an upper case letter of the url in escapes', rawEventWith('"url":"\\/a\\u003f\\/\\u0041","ua":""')],
    ['with empty texts', rawEvent({ feature: '', ruleId: '', ruleName: '', ja4: '', ua: '', url: '', country: '', action: '' })],
    [
      'with every escape in a text',
      rawEventWith('"url":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00E9\\u007f\\u0080\\u07ff\\u0800\\uffff\\uD7FF\\ue000"'),
    ],
    ['with DEL in a text', rawEvent({ url: '\x7f' })],
    ['with characters of two, three and four bytes', rawEvent({ url: '\x80é߿ࠀ\ud7ff\ue000\uffff😀\u{10ffff}', log: { ü: 'ü' } })],
    ['with the first and the last asn', rawEvent({ asn: '0' })],
    ['with the longest asn', rawEvent({ asn: '999999999' })],
    ['with words, numbers and empty values in its log', withLog('{"a":[true,false,null,-0,0.5,-1.25e+10,1E-7,12e3,{},[],""],"":{}}')],
    ['with blanks in its log', withLog('{ "a" : [ 1 , { } , [ ] , { "b" : null } ] }')],
    ['with names in escapes in its log', withLog('{"\\u0061\\"":1}')],
    ['that has in its texts what ends members', rawEvent({ url: '"},{:[]', log: { a: '",\\"log\\":{}' } })],
    ['63 levels deep in its log', nested(63)],
    ['as long as the kernel takes', ofBytes(LONGEST_KERNEL_EVENT)],
  ])('%s', (_what, event) => {
    expect(kernelConversion(Buffer.from(event))).toEqual(scannedConversion(Buffer.from(event)) ?? 'nothing');
  });

  test.each([
    '0.0.0.0',
    '9.10.99.100',
    '255.255.255.255',
    '::',
    '::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '1::8',
    '1:2:3::6:7:8',
    '::2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '2001:db8::1:0:0:1',
    '2001:DB8::aBcD',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '::ffff:ffff:ffff:ffff',
    '0:0:0:1::',
    '::3b9a:ca00',
    '::ffff:102:304',
    '1.2.3.*',
    '0.0.0.*',
    '255.255.255.*',
    '2001:db8:0:1::*',
    '2001:DB8:0:1:*',
    '0:0:0:0::*',
    'ffff:ffff:ffff:ffff:*',
  ])('from %s', (ip) => {
    const converted = kernelConversion(Buffer.from(withIp(ip)));
    expect(converted?.columns.filter((_bytes, index) => ADDRESS.includes(index)).map(({ length }) => length)).toEqual([8, 8]);
    expect(converted).toEqual(scannedConversion(Buffer.from(withIp(ip))));
  });

  test.each([
    ['nothing special', ''],
    ['a quote in an escape', '\\"'],
    ['a backslash in an escape', '\\\\'],
    ['several escapes', '\\\\\\"\\"\\\\'],
    ['an escape of a code unit', '\\u00e9'],
    ['a character of two bytes', 'é'],
    ['one of three', '€'],
    ['one of four', '😀'],
  ])('with %s anywhere in a text, of which 64 bytes are read at a time', (_what, special) => {
    for (let before = 0; before < 130; before++) {
      const event = Buffer.from(rawEventWith(`"url":"${'x'.repeat(before)}${special}","ua":""`));
      expect(kernelConversion(event)).toEqual(scannedConversion(event) ?? 'nothing');
    }
  });
});

test('a url is split where its question mark is, and looked through for upper case behind that, wherever they stand', () => {
  for (let before = 0; before < 40; before++) {
    for (let behind = 0; behind < 40; behind++) {
      for (const last of ['A', 'a']) {
        const event = Buffer.from(rawEvent({ url: `${'x'.repeat(before)}?${'y'.repeat(behind)}${last}`, ua: 'A' }));
        expect(kernelConversion(event)).toEqual(scannedConversion(event));
      }
    }
  }
});

test('the kernel takes every event of the benchmarks', () => {
  const events = [...generateEvents({ seed: 3, count: 2000, zones: 50, nowMs: NOW, spanMs: HOUR })];
  for (const event of events.map((line) => line.subarray(0, -1))) {
    expect(kernelConversion(event)).toEqual(scannedConversion(event) ?? 'nothing');
  }
});

test('the kernel takes every event of the demo', () => {
  const random = seededRandom(1, 2);
  for (const attack of [null, ...DEMO_ATTACKS]) {
    for (let index = 0; index < 200; index++) {
      const event = Buffer.from(demoEvent(`demo-${index}`, NOW - index, attack, random));
      expect(kernelConversion(event)).toEqual(scannedConversion(event) ?? 'nothing');
    }
  }
});

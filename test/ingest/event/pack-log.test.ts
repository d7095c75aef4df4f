import { expect, test } from 'vitest';
import { LineBuffer } from '../../../ingest/event/line-buffer.ts';
import { packLog } from '../../../ingest/event/pack-log.ts';
import { PACKED_FIELDS } from '../../../query/packed-log.ts';
import { kernelConversion, scannedConversion } from './conversions.ts';
import { plainlyPacked, unpacked } from './plain-packing.ts';
import { rawEvent } from './raw-events.ts';

const [URL, IP, NAME, ID] = ['\x01', '\x02', '\x03', '\x04'];

/** The log of an event, packed by the scanner; where the kernel takes the event it does the same. */
function packedLog(event: Readonly<Record<string, unknown>>): string {
  const bytes = Buffer.from(rawEvent(event));
  const scanned = scannedConversion(bytes);
  expect(kernelConversion(bytes)).toEqual(scanned);
  return Buffer.from(scanned?.log ?? '', 'latin1').toString('utf8');
}

test.each<[what: string, event: Readonly<Record<string, unknown>>, packed: string]>([
  ['nothing that stands in the fields', { url: '/search', log: { a: '/other' } }, '{"a":"/other"}'],
  ['the url', { url: '/search', log: { a: '/search' } }, `{"a":"${URL}"}`],
  ['the address', { ip: '203.0.113.9', log: { a: ['203.0.113.9'] } }, `{"a":["${IP}"]}`],
  ['the name of the rule', { ruleName: 'SQL injection', log: { a: 'SQL injection?' } }, `{"a":"${NAME}?"}`],
  ['the id of the rule', { ruleId: '942100', log: { a: 'by rule 942100' } }, `{"a":"by rule ${ID}"}`],
  [
    'all of them, several times',
    { url: '/search', ip: '1.2.3.4', ruleName: 'a rule', ruleId: 'rule-7', log: { a: '/search1.2.3.4', b: 'a rule: rule-7/search' } },
    `{"a":"${URL}${IP}","b":"${NAME}: ${ID}${URL}"}`,
  ],
  ['a value as a name and in a name', { url: '/search', log: { '/search': 1, 'a/search': 2 } }, `{"${URL}":1,"a${URL}":2}`],
  ['a value as part of a number', { ruleId: '942100', log: { a: 9421001, b: -1.9421e1 } }, `{"a":${ID}1,"b":-19.421}`],
  ['a value of several tokens', { url: ':[1,2,3', log: { a: [1, 2, 3] } }, `{"a"${URL}]}`],
  ['a value of five bytes', { url: '/five', log: { a: '/five' } }, '{"a":"/five"}'],
  ['a value of six bytes', { url: '/six66', log: { a: '/six66' } }, `{"a":"${URL}"}`],
  ['a value of six bytes that are five letters', { url: '/fivé', log: { a: '/fivé' } }, `{"a":"${URL}"}`],
  ['a value with a quote', { url: '/search"', log: { a: '/search"' } }, '{"a":"/search\\""}'],
  [
    'a value with a backslash far behind',
    { url: `${'/'.repeat(40)}\\`, log: { a: `${'/'.repeat(40)}\\` } },
    `{"a":"${'/'.repeat(40)}\\\\"}`,
  ],
  ['a value with a control character', { url: '/search\x01', log: { a: '/search\x01' } }, '{"a":"/search\\u0001"}'],
  ['a value that stands behind a backslash', { url: 'nsearch', log: { a: '\nsearch' } }, `{"a":"\\${URL}"}`],
  ['one value in another, the longer one first', { url: '/by/1.2.3.4', ip: '1.2.3.4', log: { a: '/by/1.2.3.4' } }, `{"a":"${URL}"}`],
  ['two values at one index, the first field', { url: '1.2.3.4', ip: '1.2.3.4', log: { a: '1.2.3.4' } }, `{"a":"${URL}"}`],
  [
    'two values at one index, the first field also if it is the shorter',
    { url: '1.2.3.', ip: '1.2.3.4', log: { a: '1.2.3.4' } },
    `{"a":"${URL}4"}`,
  ],
  ['values that overlap, the first in the log', { url: 'abcdefgh', ruleId: 'xyabcd', log: { a: 'xyabcdefgh' } }, `{"a":"${ID}efgh"}`],
  ['a value that overlaps itself', { url: 'aaaaaa', log: { a: 'a'.repeat(17) } }, `{"a":"${URL}${URL}aaaaa"}`],
  ['a value whose end is missing', { url: '/search', log: { a: '/searc' } }, '{"a":"/searc"}'],
  ['a value that is not ASCII', { url: '/größe/€😀', log: { a: '→/größe/€😀←' } }, `{"a":"→${URL}←"}`],
  [
    'a value with characters of expressions',
    { url: '/.*+?^$|[]{}()', log: { a: '/.*+?^$|[]{}()', b: '/aaa' } },
    `{"a":"${URL}","b":"/aaa"}`,
  ],
])('a log with %s', (_what, event, packed) => {
  expect(packedLog(event)).toBe(packed);
});

test.each([15, 16, 17, 31, 32, 33, 100])('a value of %i bytes is found wherever it stands, also as the last of the log', (length) => {
  const url = `/${'xy'.repeat(length)}`.slice(0, length);
  for (let before = 0; before < 70; before++) {
    const filling = 'z'.repeat(before);
    expect(packedLog({ url, log: { a: filling + url } })).toBe(`{"a":"${filling}${URL}"}`);
    expect(packedLog({ url, log: { a: filling + url.slice(1) } })).toBe(`{"a":"${filling}${url.slice(1)}"}`);
  }
});

test('a log that is put together of several parts is packed across them', () => {
  // 123456, ends in the comma between the log's own members and the one that is no field.
  const event = '{"shieldZoneId":7,"url":"123456,","more":1,"timestamp":TIME,"log":{"a":123456}}';
  const bytes = Buffer.from(event.replace('TIME', String(JSON.parse(rawEvent()).timestamp)));
  expect(scannedConversion(bytes)?.log).toBe(`{"a":${URL}"more":1}`);
});

test('an event without a log is packed as its own log', () => {
  const event = rawEvent({ log: undefined, ip: '203.0.113.9', url: '/of/203.0.113.9' });
  const log = scannedConversion(Buffer.from(event))?.log;
  expect(log).toBe(event.replace('"203.0.113.9"', `"${IP}"`).replace('/of/203.0.113.9', URL));
});

// A search that begins anew after each index would compare 10^11 bytes here.
test.each([
  ['ends otherwise', (run: string) => `${run}b`],
  ['is otherwise in the middle', (run: string) => `${run}b${run}`],
  ['begins otherwise', (run: string) => `b${run}`],
  ['stands there again from every byte on', (run: string) => run],
])('a log of 700,000 bytes that repeats itself is packed by a long value that %s', (_what, valueFrom) => {
  const [url, ruleId] = [valueFrom('a'.repeat(250_000)), `x${'a'.repeat(7)}`];
  const log = `x${'a'.repeat(700_000)}`;
  const logs = new LineBuffer();
  packLog(Buffer.from(log), [Buffer.from(url), null, null, Buffer.from(ruleId)], logs);
  const packed = Buffer.concat(logs.take()).toString();
  expect(packed[0]).toBe(ID);
  expect(unpacked(packed, { url, ruleId })).toBe(`${log}\n`);
});

test('a value that goes on behind the log does not stand in it', () => {
  const start = rawEvent({ log: undefined, url: '{}}\x7f\x7f\x7f', ip: '1::' }).slice(0, -1);
  for (const event of [`${start},"log":{}}`, `${start},"log":{} }`]) {
    expect(kernelConversion(Buffer.from(event))?.log).toBe('{}');
    expect(scannedConversion(Buffer.from(event))?.log).toBe('{}');
  }
});

test('the definition, index by index, agrees on the fields and their marks', () => {
  const event = Object.fromEntries(PACKED_FIELDS.map((name) => [name, `the ${name}`]));
  expect(plainlyPacked(PACKED_FIELDS.map((name) => `the ${name}`).join(), event)).toBe([URL, IP, NAME, ID].join());
});

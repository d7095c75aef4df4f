import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LARGEST_EVENT_BYTES } from '../../../ingest/event/event-verdict.ts';
import type { Mapping } from '../../../ingest/mapping/mapping.ts';
import { MOST_UNPACKED_OF_ITEMS } from '../../../ingest/mapping/record-mapper.ts';
import { mapped, mappingOf, PRESETS, verdictOf } from './mapped.ts';

const T = '"t":1795838661558,"timestamp":1795838661558';
const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64');
const repeated = (times: number, change: (text: string) => string, text: string): string =>
  Array.from({ length: times }).reduce<string>((one) => change(one), text);
const nested = (open: string, levels: number, close: string, inside = ''): string => open.repeat(levels) + inside + close.repeat(levels);
/** A list of as many of an item as so many bytes may have, without more as a record may have. */
const filled = (before: string, item: string, after: string, most = LARGEST_EVENT_BYTES): string => {
  const count = Math.floor((most - before.length - after.length - item.length) / (item.length + 1));
  return `${before}${`${item},`.repeat(count)}${item}${after}`;
};

/** Every word of a mapping, on members that the records below have. */
const ALL_WORDS = mappingOf(`
timestamp: {first: [t, timestamp], time: [unix, iso, clf, ctime, 'yyyy-MM-dd HH:mm:ss']}
timezone: UTC
items: [{path: records, decode: [base64, gzip]}, {path: 'list[*].record'}]
leaveOut: {path: leave, table: {'yes': 'true'}}
zone: {first: [{path: a.zone, table: {'*.example.com': 8}}, {const: 7}]}
id: [{path: id, absent: []}, {first: [n, {const: none}]}]
feature: {path: 'l[*].a.b[0]', upper: true}
ruleId: {path: 'l[a=1,x].b', table: {x: 'y', '*': rest}}
ruleName: {path: 'l[__proto__!=x].constructor', lower: true}
action: {when: {a: '*', l: [a, b]}, const: logged}
ip: {path: a, address: true}
ua: {path: v, decode: [url, base64, gzip, {split: ';'}, json]}
url: {text: 'https://{a}{/b}{?__proto__}{#toString}'}
asn: n
country: {path: v, decode: {split: ','}}
ja4: {path: v, decode: json}
`);

/** What is sent, and how many of each outcome it has by the mapping of all words. */
const HOSTILE: readonly (readonly [name: string, record: string | Uint8Array, wanted: Partial<Record<string, number>>])[] = [
  ['10,000 lists inside one another', `{${T},"a":${nested('[', 10_000, ']')}}`, { letter: 1 }],
  ['10,000 objects inside one another', `{${T},"b":${nested('{"a":', 10_000, '}', '1')}}`, { letter: 1 }],
  ['10,000 levels and a number past 2^53 that is read', `{${T},"n":9007199254740993,"b":${nested('[', 10_000, ']')}}`, { letter: 1 }],
  ['10,000 levels as an item', `{"records":[${nested('[', 10_000, ']')}]}`, { letter: 1 }],
  ['10,000 levels as a wrapped object', `{"log":${nested('{"log":', 10_000, '}', `{${T}}`)}}`, { letter: 1 }],
  ['500,000 lists that are not closed', `{${T},"a":${'['.repeat(500_000)}`, { letter: 1 }],
  ['gzip of zeros as an item', `{"records":["${base64(gzipSync(new Uint8Array(64 * 1024 * 1024)))}"]}`, { letter: 1 }],
  ['gzip of zeros in a field', `{${T},"v":"${base64(gzipSync(new Uint8Array(64 * 1024 * 1024)))}"}`, { letter: 1 }],
  [
    'gzip of zeros in each of many items',
    `{"records":[${Array(100).fill(`"${base64(gzipSync(new Uint8Array(1024 * 1024)))}"`)}]}`,
    { letter: 100 },
  ],
  ['gzip of gzip', `{"records":["${base64(gzipSync(gzipSync(`{${T}}`)))}"]}`, { letter: 1 }],
  ['base64 of base64', `{"records":["${repeated(10, base64, `{${T}}`)}"]}`, { letter: 1 }],
  ['gzip that is cut', `{"records":["${base64(gzipSync(`{${T}}`).subarray(0, 20))}"]}`, { letter: 1 }],
  ['envelopes in envelopes', `${nested('{"records":[', 8, ']}', `{${T}}`)}`, { letter: 1 }],
  ['texts in texts', repeated(8, (text) => `{"message":${JSON.stringify(text)}}`, `{${T}}`), { letter: 1 }],
  ['10,000 empty items', filled('{"records":[', '{}', ']}', 30_014), { letter: 10_000 }],
  ['10,000 empty texts as items', filled('{"records":[', '""', ']}', 30_014), { letter: 10_000 }],
  ['a million bytes of empty items of a list', filled('{"list":[', '{}', ']}'), { letter: 1 }],
  ['a million bytes of items that have none', filled(`{${T},"l":[`, '[]', ']}'), { event: 1 }],
  ['a million bytes of items that are chosen by their number', filled(`{${T},"l":[`, '{"a":2}', ']}'), { event: 1 }],
  ['90,000 members', `{${T},${Array.from({ length: 90_000 }, (__, index) => `"k${index}":1`)}}`, { event: 1 }],
  ['members that every object has', `{${T},"__proto__":{"t":1,"l":[]},"constructor":"c","toString":"s","hasOwnProperty":1}`, { event: 1 }],
  ['those names in items', `{${T},"l":[{"__proto__":"x"},{"__proto__":{},"constructor":"C"}]}`, { event: 1 }],
  ['an object as the prototype alone', `{"__proto__":{${T}}}`, { letter: 1 }],
  ['an envelope as the prototype alone', `{"__proto__":{"records":[{${T}}]}}`, { letter: 1 }],
  ['members that are there twice', `{${T},"t":"x","t":1795838661558,"a":"1","a":"2","records":[],"records":1}`, { event: 1 }],
  ['envelopes that are there twice', `{"records":[{${T}}],"records":[]}`, { leftOut: 1 }],
  ['envelopes that are there twice in other cases', `{"Records":[{${T}}],"RECORDS":[]}`, { event: 1 }],
  ['lone surrogates', `{${T},"a":"\\ud800","b":"\\udc00\\ud800","id":"\\ud83d"}`, { event: 1 }],
  ['lone surrogates in what is wrapped', `{"message":${JSON.stringify(`{${T},"a":"\ud800"}`)}}`, { event: 1 }],
  ['NUL as an escape', `{${T},"a":"\\u0000","id":"\\u0000","l":[{"a":"1","b":"\\u0000"}]}`, { event: 1 }],
  ['NUL as a byte', `{${T},"a":"\0"}`, { letter: 1 }],
  ['bytes that are no UTF-8', Buffer.from(`{${T},"a":"\xff\xc0\x80","\xfe":1}`, 'latin1'), { event: 1 }],
  ['numbers past 2^53', `{${T},"b":9007199254740993,"id":12345678901234567890,"a":1e400,"n":64500.0}`, { event: 1 }],
  ['a number that is too small', `{${T},"v":1e-400}`, { letter: 1 }],
  ['a number of many digits', `{${T},"b":${'9'.repeat(5_000)},"a":0.${'1'.repeat(5_000)}}`, { event: 1 }],
  ['a time of many digits', `{"t":${'9'.repeat(5_000)}}`, { letter: 1 }],
  ['a long name', `{${T},"${'k'.repeat(1_000_000)}":1}`, { event: 1 }],
  ['more bytes than a record may have', `{${T}${' '.repeat(LARGEST_EVENT_BYTES)}}`, { letter: 1 }],
  ['nothing', '', { letter: 1 }],
  ['blanks', ' \t\r\n'.repeat(1_000), { letter: 1 }],
];

function outcomes(mapping: Mapping, bytes: string | Uint8Array): Record<string, number> {
  const counts: Record<string, number> = {};
  let keptBytes = 0;
  for (const one of mapped(mapping, bytes)) {
    const verdict = one.kind === 'event' ? verdictOf(one.event) : undefined;
    // What is rejected of an event is one of its members, or how deep it nests, never its form, and is a letter of the record.
    if (verdict?.kind === 'rejected' && verdict.isJson === false) expect(verdict.reason).toBe('the event nests deeper than 1000 levels');
    if (one.kind === 'rejected') expect(one.reason).not.toBe('');
    const outcome = one.kind === 'leftOut' ? 'leftOut' : verdict === undefined || verdict.kind === 'rejected' ? 'letter' : 'event';
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    keptBytes += one.record.length;
  }
  expect(keptBytes).toBeLessThanOrEqual(2 * LARGEST_EVENT_BYTES + MOST_UNPACKED_OF_ITEMS);
  return counts;
}

describe.each(HOSTILE)('%s', (_, record, wanted) => {
  it('is, by a mapping of all words, so many events and letters', () => {
    expect(outcomes(ALL_WORDS, record)).toEqual(wanted);
  });

  it('is so many events, letters and left out by each preset', () => {
    for (const [name, mapping] of PRESETS) expect(Object.keys(outcomes(mapping, record)), name).not.toEqual([]);
  });
});

it('as many items as an envelope can have are taken one by one', () => {
  const envelope = filled('{"records":[', '{}', ']}');
  expect(outcomes(ALL_WORDS, envelope)).toEqual({ letter: 349_521 });
});

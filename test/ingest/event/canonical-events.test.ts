import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { loadedEvents } from './loaded-events.ts';
import { NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const IPV4 = 0xffff_0000_0000n;
const basic = { logId: 'a', shieldZoneId: 7, timestamp: BigInt(NOW), log: {} };

describe('an event is loaded as what it says:', () => {
  test.each<[what: string, event: string, loaded: Readonly<Record<string, unknown>>]>([
    ['the least there can be', rawEvent(), basic],
    ['zone -0', rawEventWith('"shieldZoneId":-0'), { ...basic, shieldZoneId: 0 }],
    ['IPv4', rawEvent({ ip: '203.0.113.9' }), { ...basic, ip: '203.0.113.9', ipHigh: 0n, ipLow: IPV4 + 0xcb007109n }],
    ['IPv6', rawEvent({ ip: '2001:DB8::1' }), { ...basic, ip: '2001:DB8::1', ipHigh: 0x20010db8_00000000n, ipLow: 1n }],
    [
      'the last address',
      rawEvent({ ip: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' }),
      { ...basic, ip: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ipHigh: 2n ** 64n - 1n, ipLow: 2n ** 64n - 1n },
    ],
    ['an ip that is no address', rawEvent({ ip: '10.0.0.256' }), { ...basic, ip: '10.0.0.256' }],
    ['an ip in escapes', rawEventWith('"ip":"\\u0031.2.3.4"'), { ...basic, ip: '1.2.3.4', ipHigh: 0n, ipLow: IPV4 + 0x01020304n }],
    ['asn as digits', rawEvent({ asn: '64500' }), { ...basic, asn: '64500' }],
    ['asn as a number', rawEvent({ asn: 64500 }), { ...basic, asn: '64500' }],
    ['asn with AS', rawEvent({ asn: 'AS64500' }), { ...basic, asn: '64500' }],
    ['asn with leading zeros', rawEvent({ asn: 'as0064500' }), { ...basic, asn: '64500' }],
    ['asn zero', rawEvent({ asn: 0 }), { ...basic, asn: '0' }],
    ['text fields that are null', rawEvent({ url: null, ip: null, asn: null, country: 'DE' }), { ...basic, country: 'DE' }],
    [
      'text fields that are empty, which is a value, but for an asn without digits',
      rawEvent({ feature: '', ruleId: '', ruleName: '', ip: '', ja4: '', ua: '', url: '', asn: '', country: '', action: '' }),
      { ...basic, feature: '', ruleId: '', ruleName: '', ip: '', ja4: '', ua: '', url: '', country: '', action: '' },
    ],
    [
      'an empty text beside what has to be put together anew',
      rawEvent({ log: undefined, ua: '', url: null }),
      {
        ...basic,
        ua: '',
        log: { logId: 'a', shieldZoneId: 7, timestamp: NOW, ua: '', url: null },
      },
    ],
    ['a time with a point', rawEventWith(`"timestamp":${NOW + 1}.00`), { ...basic, timestamp: BigInt(NOW + 1) }],
    ['a time with an exponent', rawEventWith('"timestamp":1.778599800125e+12'), { ...basic, timestamp: BigInt(NOW + 125) }],
    ['a time in UTC', rawEvent({ timestamp: '2026-05-12T15:30:00.125Z' }), { ...basic, timestamp: BigInt(NOW + 125) }],
    ['a time with an offset', rawEvent({ timestamp: '2026-05-12T17:30:00.9999+02:00' }), { ...basic, timestamp: BigInt(NOW + 999) }],
    ['a key in escapes', rawEventWith('"\\u0075rl":"/x"'), { ...basic, url: '/x' }],
    ['the last of the same names', rawEventWith('"url":"/1","url":"/2","shieldZoneId":8'), { ...basic, shieldZoneId: 8, url: '/2' }],
    ['the last of the same names, in escapes', rawEventWith('"url":"/1","u\\u0072l":"/2"'), { ...basic, url: '/2' }],
    ['a byte order mark', `\ufeff${rawEvent()}`, basic],
    ['blanks and newlines everywhere', rawEvent({ url: '/x' }).replaceAll(/[{}:,]/g, '\r\n\t $&\n '), { ...basic, url: '/x' }],
    ['NUL, quotes, emoji, U+2028', rawEvent({ url: '\0"\\\u2028😀' }), { ...basic, url: '\0"\\\u2028😀' }],
    [
      'no log',
      rawEvent({ log: undefined, url: '/x', more: [1] }),
      { ...basic, url: '/x', log: { logId: 'a', shieldZoneId: 7, timestamp: NOW, url: '/x', more: [1] } },
    ],
    ['a log that is null', rawEvent({ log: null }), { ...basic, log: { logId: 'a', shieldZoneId: 7, timestamp: NOW, log: null } }],
    ['unknown members', rawEvent({ a: 1, log: { x: 0 }, b: { c: [] } }), { ...basic, log: { x: 0, a: 1, b: { c: [] } } }],
    ['unknown members and an empty log', rawEvent({ a: 1, b: 2 }), { ...basic, log: { a: 1, b: 2 } }],
    ['unknown members that the log has', rawEvent({ a: 1, b: 2, log: { a: 0 } }), { ...basic, log: { a: 0, b: 2 } }],
    ['unknown members that the log has in escapes', rawEventWith('"a":1,"log":{"\\u0061":0}'), { ...basic, log: { a: 0 } }],
    ['an unknown member twice', rawEventWith('"a":1,"a":2'), { ...basic, log: { a: 2 } }],
    [
      'members named like the columns that are derived',
      rawEvent({ ipHigh: 1, ipLow: 2, ip: '::1' }),
      { ...basic, ip: '::1', ipHigh: 0n, ipLow: 1n, log: { ipHigh: 1, ipLow: 2 } },
    ],
  ])('%s', (_what, event, loaded) => {
    const builder = new BatchBuilder(RULES);
    expect(builder.addEvent('http', Buffer.from(event)).kind).toBe('accepted');
    expect(loadedEvents(builder.take())).toEqual([loaded]);
  });
});

describe('of a text that is longer than 64 KiB', () => {
  const most = 64 * 1024;
  const REPEATED = `${'abcdef'.repeat(10_922)}abcd`;
  const cut = (more: Readonly<Record<string, unknown>>) => ({ kind: 'accepted', cutTexts: 1, ...more });

  test.each<[what: string, event: string, loaded: Readonly<Record<string, unknown>>, verdict?: object]>([
    ['nothing is cut where it has exactly so many', rawEvent({ ua: 'x'.repeat(most) }), { ua: 'x'.repeat(most) }, { kind: 'accepted' }],
    [
      'nothing is cut where its escapes alone make it longer',
      rawEventWith(`"ua":"${'\\u0061'.repeat(most)}"`),
      { ua: 'a'.repeat(most) },
      { kind: 'accepted' },
    ],
    ['the log has all', rawEvent({ ua: 'x'.repeat(most + 1) }), { ua: 'x'.repeat(most), log: { ua: 'x'.repeat(most + 1) } }],
    [
      'the log has all in escapes',
      rawEventWith(`"ua":"${'\\u0061'.repeat(most + 1)}"`),
      { ua: 'a'.repeat(most), log: { ua: 'a'.repeat(most + 1) } },
    ],
    [
      'a log with that name keeps its own',
      rawEvent({ ua: 'x'.repeat(most + 1), log: { ua: 1 } }),
      { ua: 'x'.repeat(most), log: { ua: 1 } },
    ],
    [
      'the whole event as log has all',
      rawEvent({ ua: 'x'.repeat(most + 1), log: undefined }),
      { ua: 'x'.repeat(most), log: JSON.parse(rawEvent({ ua: 'x'.repeat(most + 1), log: undefined })) },
    ],
    [
      'no letter of two bytes is cut in two',
      rawEvent({ feature: `x${'é'.repeat(most / 2)}` }),
      { feature: `x${'é'.repeat(most / 2 - 1)}`, log: { feature: `x${'é'.repeat(most / 2)}` } },
    ],
    [
      'no letter of three bytes',
      rawEvent({ ja4: `xx${'€'.repeat(most / 3)}` }),
      { ja4: `xx${'€'.repeat(most / 3 - 1)}`, log: { ja4: `xx${'€'.repeat(most / 3)}` } },
    ],
    [
      'no letter of four bytes, in escapes',
      rawEventWith(`"ua":"xxx${'\\ud83e\\udd86'.repeat(most / 4)}"`),
      { ua: `xxx${'🦆'.repeat(most / 4 - 1)}`, log: { ua: `xxx${'🦆'.repeat(most / 4)}` } },
    ],
    [
      'a lone half at the end counts as U+FFFD',
      rawEventWith(`"ua":"${'x'.repeat(most - 1)}\\ud83e"`),
      { ua: 'x'.repeat(most - 1), log: { ua: `${'x'.repeat(most - 1)}\ufffd` } },
      cut({ isRepaired: true }),
    ],
    [
      'the url is cut as a whole',
      rawEvent({ url: `/${'x'.repeat(most - 3)}?${'y'.repeat(most)}` }),
      { url: `/${'x'.repeat(most - 3)}?y`, log: { url: `/${'x'.repeat(most - 3)}?${'y'.repeat(most)}` } },
    ],
    [
      'an ip is no address',
      rawEvent({ ip: `1.2.3.4${' '.repeat(most)}x` }),
      { ip: `1.2.3.4${' '.repeat(most - 7)}`, log: { ip: `1.2.3.4${' '.repeat(most)}x` } },
      cut({ hasUnknownIp: true }),
    ],
    [
      'an asn is cut in its digits',
      rawEvent({ asn: `AS0${'1'.repeat(most + 1)}` }),
      { asn: '1'.repeat(most), log: { asn: `AS0${'1'.repeat(most + 1)}` } },
    ],
    ['an asn is not cut because of its zeros', rawEvent({ asn: `${'0'.repeat(most)}1` }), { asn: '1' }, { kind: 'accepted' }],
    [
      'the log repeats what is stored and goes on behind it',
      rawEvent({ url: 'abcdef'.repeat(20_000), log: { a: 'abcdef'.repeat(30_000), b: REPEATED } }),
      {
        url: 'abcdef'.repeat(20_000).slice(0, most),
        log: { a: 'abcdef'.repeat(30_000), b: REPEATED, url: 'abcdef'.repeat(20_000) },
      },
    ],
    [
      'all fields are cut, each by itself',
      rawEvent({ ruleId: 'r'.repeat(most + 1), ruleName: 'n'.repeat(most + 2), more: 1 }),
      {
        ruleId: 'r'.repeat(most),
        ruleName: 'n'.repeat(most),
        log: { more: 1, ruleId: 'r'.repeat(most + 1), ruleName: 'n'.repeat(most + 2) },
      },
      { kind: 'accepted', cutTexts: 2 },
    ],
  ])('%s', (_what, event, loaded, verdict = cut({})) => {
    const builder = new BatchBuilder(RULES);
    expect(builder.addEvent('http', Buffer.from(event))).toEqual(verdict);
    expect(loadedEvents(builder.take())).toEqual([{ ...basic, ...loaded }]);
  });

  test('the derived id is of all of the event', () => {
    const builder = new BatchBuilder(RULES);
    const long = (end: string) => rawEvent({ logId: undefined, ua: `${'x'.repeat(most)}${end}` });
    for (const end of ['a', 'b', 'a']) builder.addEvent('http', Buffer.from(long(end)));
    const digestOf = (end: string) => createHash('sha256').update(long(end)).digest('hex').slice(0, 32);
    expect(loadedEvents(builder.take()).map(({ logId }) => logId)).toEqual(['a', 'b', 'a'].map(digestOf));
  });
});

test('numbers of any length keep their digits on the way into the log', () => {
  const numbers = '"n":[123456789012345678901234567890,1.10,-0,1e999,0.1234567890123456789]';
  const builder = new BatchBuilder(RULES);
  builder.addEvent('http', Buffer.from(rawEventWith(numbers)));
  expect(Buffer.concat(builder.take().logs).toString()).toBe(`{${numbers}}\n`);
});

describe('an event without an id gets', () => {
  const event = rawEvent({ logId: undefined });
  const digest = createHash('sha256').update(event).digest('hex').slice(0, 32);

  test.each<[what: string, bytes: string]>([
    ['by its bytes', event],
    ['without the blanks around them', `\ufeff ${event}\r`],
  ])('the start of the SHA-256 over its bytes, %s', (_what, bytes) => {
    const builder = new BatchBuilder(RULES);
    builder.addEvent('file', Buffer.from(bytes));
    expect(loadedEvents(builder.take())).toEqual([{ ...basic, logId: digest }]);
  });

  test('its topic, partition and offset in Kafka, whatever way it is written', () => {
    const builder = new BatchBuilder(RULES);
    builder.tryKafkaMessage('events', 3, 41n, Buffer.from(event));
    builder.tryKafkaMessage('events', 3, 42n, Buffer.from(rawEvent({ logId: null, asn: 5 })));
    const loaded = loadedEvents(builder.take());
    expect(loaded.map(({ logId }) => logId)).toEqual(['events-3-41', 'events-3-42']);
  });
});

test('events as large as they may be load beside others, also when the event is its own log', () => {
  const builder = new BatchBuilder(RULES);
  const longUrl = (bytes: number, log: unknown) => rawEvent({ log, url: 'x'.repeat(bytes - rawEvent({ log, url: '' }).length) });
  const largest = [longUrl(1024 * 1024, undefined), longUrl(1024 * 1024, {}), rawEvent()];
  for (let repeat = 0; repeat < 4; repeat++) {
    for (const event of largest) {
      expect(builder.addEvent('http', Buffer.from(event))).toMatchObject({ kind: 'accepted' });
    }
  }
  const loaded = loadedEvents(builder.take());
  const urls = largest.map((event) => JSON.parse(event).url as string | undefined);
  expect(loaded.map(({ log }) => (log as { url?: string }).url)).toEqual([...urls, ...urls, ...urls, ...urls]);
  expect(loaded.map(({ url }) => (url as string | undefined)?.length)).toEqual(Array(4).fill([65_536, 65_536, undefined]).flat());
});

test.each([
  ['first', '{"log":LOG,"shieldZoneId":7,"timestamp":TIME,"logId":"a","ip":"::1"}'],
  ['first, among blanks', '{ "log" : LOG , "shieldZoneId" : 7 ,"timestamp":TIME,"logId":"a","ip":"::1" }'],
  ['in the middle', '{"shieldZoneId":7,"log":LOG,"timestamp":TIME,"logId":"a","ip":"::1"}'],
  ['in the middle, among blanks', '{"shieldZoneId":7 , "log" : LOG , "timestamp":TIME,"logId":"a","ip":"::1"}'],
  ['last', '{"shieldZoneId":7,"timestamp":TIME,"logId":"a","ip":"::1","log":LOG}'],
  ['last, without an id', '{"shieldZoneId":7,"timestamp":TIME,"ip":"::1","log":LOG}'],
  ['in an event that is put together anew', '{"log":LOG,"shieldZoneId":7,"timestamp":TIME,"logId":"a","ip":"::1","asn":5}'],
])('the log is written as it was, blanks and all, where it came %s', (_where, event) => {
  const log = '{ "x" : ",\\"log\\":{}" ,\t"y":[1.0, 2]}';
  const builder = new BatchBuilder(RULES);
  expect(builder.addEvent('http', Buffer.from(event.replace('TIME', String(NOW)).replace('LOG', log)))).toEqual({ kind: 'accepted' });
  const batch = builder.take();
  expect(Buffer.concat(batch.logs).toString()).toBe(`${log}\n`);
  expect(loadedEvents(batch)).toMatchObject([{ shieldZoneId: 7, timestamp: BigInt(NOW), ip: '::1', ipLow: 1n }]);
});

test('raw newlines in the blanks of a log, which would end its line, become blanks, and tabs stay', () => {
  const builder = new BatchBuilder(RULES);
  for (const log of ['{\n"a":\r\n\t[1 ,\n2]\n}', '{\r}']) {
    builder.addEvent('http', Buffer.from(rawEvent().replace('{}', log)));
  }
  builder.addEvent('http', Buffer.from(rawEvent({ log: undefined }).replaceAll(',', '\n,\n')));
  expect(Buffer.concat(builder.take().logs).toString()).toBe(
    `{ "a":  \t[1 , 2] }\n{ }\n${rawEvent({ log: undefined }).replaceAll(',', ' , ')}\n`,
  );
});

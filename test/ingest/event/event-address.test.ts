import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { loadedEvents } from './loaded-events.ts';
import { NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const MAPPED = 0xffff_0000_0000n;
const basic = { logId: 'a', shieldZoneId: 7, timestamp: BigInt(NOW) };

/** What becomes of an event, from whichever source it comes, and also behind so many others that the kernel is there. */
function taken(event: string) {
  const builder = new BatchBuilder(RULES);
  const bytes = Buffer.from(event);
  const verdict = builder.addEvent('http', bytes);
  const [loaded] = loadedEvents(builder.take());
  const place = { topic: 'events', partition: 0, offset: 0n };
  const others = [() => builder.addEvent('file', bytes), () => builder.tryEvent(bytes)];
  const isDerived = JSON.parse(event).logId === undefined;
  const kafka = [() => builder.tryKafkaMessage('events', 0, 0n, bytes), () => builder.tryMessageAt(place, 1, bytes)];
  for (const add of [...others, ...(isDerived ? [] : kafka), ...others, ...others, ...others, ...others, ...others, ...others]) {
    expect(add()).toEqual(verdict);
  }
  for (const other of loadedEvents(builder.take())) expect(other).toEqual(loaded);
  return { verdict, loaded };
}

const numberOf = (address: bigint) => ({ ipHigh: address >> 64n, ipLow: address & ((1n << 64n) - 1n) });

describe('an address with a port or blanks around it is stored without them, and its event counts as repaired:', () => {
  const IPV6 = (0x20010db8n << 96n) | 1n;
  const LONG_IPV6 = '1111:2222:3333:4444:5555:6666:123.123.123.123';
  const cases: readonly [ip: string, stored: string, address: bigint][] = [
    ['192.0.2.7:9989', '192.0.2.7', MAPPED | 0xc0000207n],
    ['192.0.2.7:0', '192.0.2.7', MAPPED | 0xc0000207n],
    ['192.0.2.7:65535', '192.0.2.7', MAPPED | 0xc0000207n],
    ['192.0.2.7:00443', '192.0.2.7', MAPPED | 0xc0000207n],
    ['[2001:db8::1]:443', '2001:db8::1', IPV6],
    ['[2001:DB8:0::1]:443', '2001:DB8:0::1', IPV6],
    ['[::ffff:192.0.2.7]:443', '::ffff:192.0.2.7', MAPPED | 0xc0000207n],
    ['[::]:1', '::', 0n],
    [`[${LONG_IPV6}]:65535`, LONG_IPV6, 0x1111_2222_3333_4444_5555_6666_7b7b_7b7bn],
    [' 192.0.2.7', '192.0.2.7', MAPPED | 0xc0000207n],
    ['2001:db8::1 ', '2001:db8::1', IPV6],
    ['\t192.0.2.7\r\n', '192.0.2.7', MAPPED | 0xc0000207n],
    ['\u00a02001:db8::1\ufeff', '2001:db8::1', IPV6],
    [' 192.0.2.7:80 ', '192.0.2.7', MAPPED | 0xc0000207n],
    [' [2001:db8::1]:443\n', '2001:db8::1', IPV6],
    [' 192.0.2.*', '192.0.2.*', MAPPED | 0xc0000200n],
    ['2001:db8:0:1::*\n', '2001:db8:0:1::*', 0x20010db8_0000_0001n << 64n],
    [`${' '.repeat(70_000)}192.0.2.7`, '192.0.2.7', MAPPED | 0xc0000207n],
  ];

  test.each(cases)('%j', (ip, stored, address) => {
    const event = { ...basic, ip: stored, ...numberOf(address) };
    const repaired = { kind: 'accepted', isRepaired: true };
    expect(taken(rawEvent({ ip }))).toEqual({ verdict: repaired, loaded: { ...event, log: { ip } } });
    expect(taken(rawEvent({ ip, log: { ip: 1 } }))).toEqual({ verdict: repaired, loaded: { ...event, log: { ip: 1 } } });
    const whole = rawEvent({ ip, log: undefined });
    expect(taken(whole)).toEqual({ verdict: repaired, loaded: { ...event, log: JSON.parse(whole) } });
  });

  test('with other members, whose texts the log repeats', () => {
    const long = 'x'.repeat(65_537);
    const { verdict, loaded } = taken(rawEvent({ ip: '192.0.2.7:9989', ua: long, more: 1, log: { a: '192.0.2.7', b: '192.0.2.7:9989' } }));
    expect(verdict).toEqual({ kind: 'accepted', isRepaired: true, cutTexts: 1 });
    expect(loaded?.['log']).toEqual({ a: '192.0.2.7', b: '192.0.2.7:9989', more: 1, ua: long, ip: '192.0.2.7:9989' });
  });

  test('of two members the last', () => {
    const { loaded } = taken(rawEventWith('"ip":"192.0.2.7:1","ip":"192.0.2.8:2"'));
    expect(loaded).toMatchObject({ ip: '192.0.2.8', log: { ip: '192.0.2.8:2' } });
  });

  test('but the id that is derived is of the bytes that came', () => {
    const ids = ['192.0.2.7', '192.0.2.7:80', '192.0.2.7 '].map((ip) => taken(rawEvent({ logId: undefined, ip })).loaded?.['logId']);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('a text that is neither an address nor a network stays as it came, and is counted:', () => {
  test.each([
    'unknown',
    ' unknown ',
    ' ',
    '192.0.2.7, 192.0.2.8',
    '192.0.2.7 192.0.2.8',
    '192.0.2.7:',
    '192.0.2.7:65536',
    '192.0.2.7:100000',
    '192.0.2.7:-1',
    '192.0.2.7: 80',
    '192.0.2.7 :80',
    '192.0.2.7:80:80',
    '192.0.2:80',
    '192.0.2.07:80',
    '192.0.2.0/24',
    '192.0.*',
    '192.0.2.*:80',
    '[2001:db8:0:1::*]:443',
    '2001:db8:1::*',
    '[2001:db8::1]',
    '[2001:db8::1]:',
    '[2001:db8::1]:65536',
    '[2001:db8::g]:443',
    '[192.0.2.7]:443',
    '[fe80::1%eth0]:443',
    '[ 2001:db8::1]:443',
    'host:80',
    `[${':'.repeat(200_000)}`.slice(0, 60_000),
  ])('%j', (ip) => {
    const { verdict, loaded } = taken(rawEvent({ ip }));
    expect(verdict).toEqual({ kind: 'accepted', hasUnknownIp: true });
    expect(loaded).toEqual({ ...basic, ip, log: {} });
  });
});

test.each([
  ['192.0.2.*', MAPPED | 0xc0000200n],
  ['192.0.2.0', MAPPED | 0xc0000200n],
  ['2001:db8:0:1::*', 0x20010db8_0000_0001n << 64n],
  ['2001:DB8:0:1:*', 0x20010db8_0000_0001n << 64n],
  ['0:0:0:0:*', 0n],
])('%s is stored as it came, with the number of the first address', (ip, address) => {
  const loaded = { ...basic, ip, ...numberOf(address), log: {} };
  expect(taken(rawEvent({ ip }))).toEqual({ verdict: { kind: 'accepted' }, loaded });
  expect(taken(rawEventWith(`"ip":"${ip.replace('*', '\\u002a')}"`))).toEqual({ verdict: { kind: 'accepted' }, loaded });
});

test.each<[what: string, more: object]>([
  ['an address', { ip: '192.0.2.7' }],
  ['a masked address', { ip: '192.0.2.*' }],
  ['a masked IPv6 address', { ip: '2001:db8:0:1:*' }],
  ['an address of which a port cannot be told', { ip: '2001:db8::1:443' }],
  ['an empty text', { ip: '' }],
  ['null', { ip: null }],
  ['no ip', {}],
])('neither repaired nor counted is %s', (_what, more) => {
  expect(taken(rawEvent({ ...more })).verdict).toEqual({ kind: 'accepted' });
});

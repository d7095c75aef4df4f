import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { type LoadedEvent, loadedEvents } from './loaded-events.ts';
import { NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const ACCEPTED = { kind: 'accepted' };
const REPAIRED = { kind: 'accepted', isRepaired: true };

/** The bytes of an event whose text has characters up to U+00FF, a byte each. */
const latin1 = (event: string) => Buffer.from(event, 'latin1');

function taken(bytes: Uint8Array): { readonly verdict: unknown; readonly event: LoadedEvent | undefined } {
  const builder = new BatchBuilder(RULES);
  const verdict = builder.addEvent('http', bytes);
  return { verdict, event: loadedEvents(builder.take())[0] };
}

describe('an event is stored with U+FFFD for each sequence that is no UTF-8:', () => {
  test.each<[what: string, bytes: string, text: string]>([
    ['a byte that begins nothing', 'a\xffb', 'a\ufffdb'],
    ['a byte of Latin-1 before the quote', 'caf\xe9', 'caf\ufffd'],
    ['a character of three bytes without its last', '\xe2\x82!', '\ufffd!'],
    ['a character of four bytes without its last, then another', '\xf0\x9f\x98\xc3\xa9', '\ufffd\u00e9'],
    ['a surrogate encoded as if it were a character', '\xed\xa0\x80', '\ufffd\ufffd\ufffd'],
    ['two bytes for what needs one', '\xc0\xaf', '\ufffd\ufffd'],
    ['what is past the last character', '\xf4\x90\x80\x80', '\ufffd'.repeat(4)],
    ['a first byte before an escape', '\xe2\\n\xf0\\"', '\ufffd\n\ufffd"'],
    ['a U+FFFD beside one', '\xef\xbf\xbd\xff', '\ufffd\ufffd'],
  ])('%s', (_what, bytes, text) => {
    const { verdict, event } = taken(latin1(rawEventWith(`"url":"${bytes}","more":"${bytes}"`)));
    expect(verdict).toEqual(REPAIRED);
    expect(event).toEqual({ logId: 'a', shieldZoneId: 7, timestamp: BigInt(NOW), url: text, log: { more: text } });
  });
});

test.each<[where: string, event: string, members: object]>([
  ['a name', rawEventWith('"\xff":1'), { log: { '\ufffd': 1 } }],
  ['the log', rawEvent().replace('{}', '{"a":["\xff"]}'), { log: { a: ['\ufffd'] } }],
  ['an ip, which then is no address', rawEventWith('"ip":"1.2.3.4\xff"'), { ip: '1.2.3.4\ufffd' }],
  ['an event after a byte order mark', `\xef\xbb\xbf${rawEventWith('"ua":"\xff"')}`, { ua: '\ufffd' }],
  ['an event with newlines', rawEventWith('"ua":"\xff",\n"url":\r\n"/"'), { ua: '\ufffd', url: '/' }],
  ['the last of two values', rawEventWith('"ua":"a","ua":"\xff"'), { ua: '\ufffd' }],
])('an event is repaired in %s', (_where, bytes, members) => {
  const { verdict, event } = taken(latin1(bytes));
  expect(verdict).toEqual(REPAIRED);
  expect(event).toMatchObject(members);
});

test('U+FFFD that was sent is no repair', () => {
  expect(taken(Buffer.from(rawEvent({ url: '\ufffd' }))).verdict).toEqual(ACCEPTED);
});

test('a field that is wrong by itself is named as before, and the dead letter keeps the bytes and the zone', () => {
  const builder = new BatchBuilder(RULES);
  const bytes = latin1(rawEventWith('"asn":"\xff"'));
  expect(builder.addEvent('http', bytes)).toMatchObject({
    kind: 'rejected',
    reason: expect.stringMatching(/^asn is "\ufffd":/),
    zoneId: 7,
  });
  expect(builder.take().deadLetters).toMatchObject([{ bytes: Uint8Array.from(bytes), zoneId: 7 }]);
});

describe('a logId with a byte that is no UTF-8 counts as absent, so that two do not become one:', () => {
  const [one, other] = [latin1(rawEvent({ logId: 'x\xff' })), latin1(rawEvent({ logId: 'x\xfe' }))];
  const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 32);

  test('over HTTP it is derived of the bytes that came, without the blanks around them', () => {
    const builder = new BatchBuilder(RULES);
    for (const bytes of [one, Buffer.concat([Buffer.from(' '), other, Buffer.from('\r')])]) {
      expect(builder.addEvent('http', bytes)).toEqual(REPAIRED);
    }
    expect(loadedEvents(builder.take()).map(({ logId }) => logId)).toEqual([digestOf(one), digestOf(other)]);
  });

  test('from Kafka it is of the offset', () => {
    const builder = new BatchBuilder(RULES);
    expect(builder.addKafkaMessage('t', 0, 5n, one)).toEqual(REPAIRED);
    expect(loadedEvents(builder.take())).toMatchObject([{ logId: 't-0-5' }]);
  });

  test('also where another one came before it in the event', () => {
    expect(taken(latin1(rawEventWith('"logId":"\xff"'))).event?.['logId']).toMatch(/^[0-9a-f]{32}$/);
  });

  test('a derived id is of the bytes, too, where another text is repaired', () => {
    const bytes = latin1(rawEvent({ logId: undefined, url: '\xff' }));
    expect(taken(bytes).event?.['logId']).toBe(digestOf(bytes));
  });
});

test('whatever bytes stand in a text, the event is the one that TextDecoder makes of them', () => {
  const byte = fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0x61));
  const text = fc.array(byte, { minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  assertProperty(
    fc.property(text, text, fc.boolean(), (url, inLog, hasLog) => {
      const log = hasLog ? `,"log":{"a":"${inLog}"}` : '';
      const bytes = latin1(`{"logId":"a","shieldZoneId":7,"timestamp":${NOW},"url":"${url}","x":"${inLog}"${log}}`);
      const decoded = new TextDecoder().decode(bytes);
      const { event } = taken(bytes);
      expect(event).toEqual(taken(Buffer.from(decoded)).event);
      expect(event?.['url']).toBe(JSON.parse(decoded).url);
    }),
    { numRuns: 1000 },
  );
});

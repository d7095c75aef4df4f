import { isUtf8 } from 'node:buffer';
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

/** A field and the log of an event have what is written, as the text. */
function expectRepaired(written: string, text: string): void {
  const { verdict, event } = taken(latin1(rawEventWith(`"url":"${written}","more":"${written}"`)));
  expect(verdict).toEqual(REPAIRED);
  expect(event).toEqual({ logId: 'a', shieldZoneId: 7, timestamp: BigInt(NOW), url: text, log: { more: text } });
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
  ])('%s', (_what, bytes, text) => expectRepaired(bytes, text));
});

describe('an event is stored with U+FFFD for each half of a surrogate pair in an escape:', () => {
  test.each<[what: string, written: string, text: string]>([
    ['a text that was cut in a letter', 'Mozilla \\ud83d', 'Mozilla \ufffd'],
    ['a byte that Python could not decode', '\\udcff!', '\ufffd!'],
    ['two first halves', '\\uD83D\\ud83d', '\ufffd\ufffd'],
    ['a half before a pair', '\\ud83d\\ud83d\\ude00', '\ufffd\u{1f600}'],
    ['a pair the other way round', '\\ude00\\ud83d', '\ufffd\ufffd'],
    ['a half before another escape', '\\ud83d\\n', '\ufffd\n'],
    ['a half beside a byte that is no UTF-8', '\xff\\ud83d\xff\\ude00', '\ufffd'.repeat(4)],
  ])('%s', (_what, written, text) => expectRepaired(written, text));
});

test('a backslash before letters that look like half a pair is no repair', () => {
  const { verdict, event } = taken(latin1(rawEventWith('"url":"\\\\ud83d"')));
  expect([verdict, event?.['url']]).toEqual([ACCEPTED, '\\ud83d']);
});

test.each<[where: string, event: string, members: object]>([
  ['a name', rawEventWith('"\xff":1'), { log: { '\ufffd': 1 } }],
  ['the log', rawEvent().replace('{}', '{"a":["\xff"]}'), { log: { a: ['\ufffd'] } }],
  ['an ip, which then is no address', rawEventWith('"ip":"1.2.3.4\xff"'), { ip: '1.2.3.4\ufffd' }],
  ['an event after a byte order mark', `\xef\xbb\xbf${rawEventWith('"ua":"\xff"')}`, { ua: '\ufffd' }],
  ['an event with newlines', rawEventWith('"ua":"\xff",\n"url":\r\n"/"'), { ua: '\ufffd', url: '/' }],
  ['the last of two values', rawEventWith('"ua":"a","ua":"\xff"'), { ua: '\ufffd' }],
  ['a name, of half a pair', rawEventWith('"\\udcff":1'), { log: { '\ufffd': 1 } }],
  ['a log in a log, of half a pair', rawEvent().replace('{}', '{"a":[{"b\\ud83d":"\\ud83d"}]}'), { log: { a: [{ 'b\ufffd': '\ufffd' }] } }],
  ['an ip, of half a pair', rawEventWith('"ip":"1.2.3.4\\ud800"'), { ip: '1.2.3.4\ufffd' }],
  ['an event with newlines and half a pair', rawEventWith('"ua":"\\udfff",\n"url":\r\n"/"'), { ua: '\ufffd', url: '/' }],
])('an event is repaired in %s', (_where, bytes, members) => {
  const { verdict, event } = taken(latin1(bytes));
  expect(verdict).toMatchObject(REPAIRED);
  expect(event).toMatchObject(members);
});

test('U+FFFD that was sent is no repair', () => {
  expect(taken(Buffer.from(rawEvent({ url: '\ufffd' }))).verdict).toEqual(ACCEPTED);
});

test('a logId that is no text is wrong, whatever was repaired in it', () => {
  expect(taken(latin1(rawEventWith('"logId":["\\ud83d"]'))).verdict).toMatchObject({ kind: 'rejected', zoneId: 7 });
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

describe.each([
  ['a byte that is no UTF-8', '\xff', '\xfe'],
  ['half a surrogate pair', '\\ud83d', '\\ude00'],
])('a logId with %s counts as absent, so that two do not become one:', (_what, wrong, alsoWrong) => {
  const [one, other] = [wrong, alsoWrong].map((written) => latin1(rawEvent().replace('"a"', `"x${written}"`))) as [Buffer, Buffer];
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
    expect(builder.tryKafkaMessage('t', 0, 5n, one)).toEqual(REPAIRED);
    expect(loadedEvents(builder.take())).toMatchObject([{ logId: 't-0-5' }]);
  });

  test('also where another one came before it in the event', () => {
    expect(taken(latin1(rawEventWith(`"logId":"${wrong}"`))).event?.['logId']).toMatch(/^[0-9a-f]{32}$/);
  });

  test('a derived id is of the bytes, too, where another text is repaired', () => {
    const bytes = latin1(rawEventWith(`"logId":null,"url":"${wrong}"`));
    expect(taken(bytes).event?.['logId']).toBe(digestOf(bytes));
  });
});

test('whatever bytes and halves of pairs stand in a text, the event is the one that TextDecoder and toWellFormed make of them', () => {
  const byte = fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0x61));
  const escaped = fc.constantFrom('\\ud83d', '\\ude00', '\\uD800', '\\uDFFF', '\\ufffd', '\\\\', '\\n', '\\u0061');
  const piece = fc.oneof(
    byte.map((value) => String.fromCharCode(value)),
    escaped,
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));
  const wellFormed = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_name, part: unknown) => {
      if (typeof part === 'string') return part.toWellFormed();
      const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
      return isObject ? Object.fromEntries(Object.entries(part).map(([name, inner]) => [name.toWellFormed(), inner])) : part;
    });
  assertProperty(
    fc.property(text, text, text, fc.boolean(), (url, inLog, logId, hasLog) => {
      const log = hasLog ? `,"log":{"a":{"b${inLog}":["${url}"]}}` : '';
      const bytes = latin1(`{"logId":"${logId}","shieldZoneId":7,"timestamp":${NOW},"url":"${url}","x${inLog}":"${inLog}"${log}}`);
      const decoded = new TextDecoder().decode(bytes);
      const sent = JSON.parse(decoded) as Record<string, unknown>;
      const isWhole = isUtf8(bytes) && JSON.stringify(sent) === JSON.stringify(wellFormed(sent));
      const isWholeId = isUtf8(latin1(logId)) && String(sent['logId']).isWellFormed();
      const { verdict, event } = taken(bytes);
      const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
      expect(event).toEqual({
        ...taken(Buffer.from(JSON.stringify(wellFormed(sent)))).event,
        logId: isWholeId ? sent['logId'] : digest,
      });
      expect(verdict).toEqual(isWhole ? ACCEPTED : REPAIRED);
    }),
    { numRuns: 2000 },
  );
});

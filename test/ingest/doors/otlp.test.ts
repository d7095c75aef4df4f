import fc from 'fast-check';
import { PbfWriter } from 'pbf';
import { describe, expect, test } from 'vitest';
import type { EnvelopeFault, TakenApart } from '../../../ingest/doors/envelope.ts';
import { takeApart } from '../../../ingest/doors/take-apart.ts';
import { type AnyValue, anyValueOf, keyValuesOf, type LogRecord, otlpJson, otlpProtobuf } from '../../fixtures/otlp-requests.ts';
import { assertProperty } from '../../random/assert-property.ts';

type Encoding = 'protobuf' | 'json';

function take(encoding: Encoding, body: Uint8Array): TakenApart | EnvelopeFault {
  return takeApart(`otlp ${encoding}`, Uint8Array.from([...body, 0]));
}

function textsIn(taken: TakenApart | EnvelopeFault): readonly string[] {
  if (taken.kind === 'fault') throw new Error(taken.reason);
  const { bytes, count, starts, ends } = taken.records;
  return Array.from({ length: count }, (_, index) => bytes.toString('utf8', starts[index], ends[index]));
}

const ENCODERS = { protobuf: otlpProtobuf, json: otlpJson } as const;
const ENCODINGS = ['protobuf', 'json'] as const;

const text = (stringValue: string): AnyValue => ({ stringValue });
const base64 = (of: string): string => Buffer.from(of).toString('base64');

/** So many lists inside one another. */
const nested = (levels: number): AnyValue => (levels === 0 ? text('x') : { arrayValue: { values: [nested(levels - 1)] } });
const brackets = (levels: number, inside: string): string => '['.repeat(levels) + inside + ']'.repeat(levels);

describe.each(ENCODINGS)('the record of a log record in %s', (encoding) => {
  test.each<[what: string, record: LogRecord, expected: string]>([
    ['is a text that is JSON', { body: text('{"a":"ü \\" \\u0000"}') }, '{"a":"ü \\" \\u0000"}'],
    [
      'is a text that is JSON behind blanks, whatever the attributes',
      { body: text('\n {"a":1}'), attributes: keyValuesOf({ b: 2 }) },
      '\n {"a":1}',
    ],
    ['is a list of keys and values, whatever the attributes', { body: anyValueOf({ a: 1 }), attributes: keyValuesOf({ b: 2 }) }, '{"a":1}'],
    ['is an empty list of keys and values', { body: anyValueOf({}) }, '{}'],
    ['is bytes that are JSON', { body: { bytesValue: base64('{"a":1}') } }, '{"a":1}'],
    ['is its attributes', { attributes: keyValuesOf({ a: 1, b: 'x' }) }, '{"a":1,"b":"x"}'],
    [
      'is its attributes, beside a text',
      { body: text('a "quoted" \\ \n'), attributes: keyValuesOf({ a: 1 }) },
      '{"body":"a \\"quoted\\" \\\\ \\n","a":1}',
    ],
    ['is its attributes, beside a list', { body: anyValueOf([1, 2]), attributes: keyValuesOf({ a: 1 }) }, '{"body":[1,2],"a":1}'],
    ['is its attributes, beside an empty text', { body: text(''), attributes: keyValuesOf({ a: 1 }) }, '{"a":1}'],
    ['is any other text', { body: text('blocked "x"') }, 'blocked "x"'],
    ['is any other bytes', { body: { bytesValue: base64('blocked') } }, 'blocked'],
    ['is a list', { body: anyValueOf([1, 'x']) }, '[1,"x"]'],
    ['is a number', { body: anyValueOf(5) }, '5'],
    ['is empty where there is nothing', {}, '{}'],
    ['is empty where there is an empty text', { body: text('') }, '{}'],
    ['is empty where the body is nothing', { body: {} }, '{}'],
    ['has keys with escapes', { body: anyValueOf({ 'a"\\\n': 1 }) }, '{"a\\"\\\\\\n":1}'],
    [
      'has the largest integers',
      { body: anyValueOf([2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) },
      '[9223372036854775807,-9223372036854775808,9007199254740993]',
    ],
    [
      'has integers that are numbers',
      { body: anyValueOf([0, -1, 127, 128, 2 ** 31, -(2 ** 40)]) },
      '[0,-1,127,128,2147483648,-1099511627776]',
    ],
    ['has numbers', { body: anyValueOf([0.5, -1.25e300, 5e-324]) }, '[0.5,-1.25e+300,5e-324]'],
    [
      'has numbers that are texts',
      { body: { arrayValue: { values: [{ doubleValue: '0.5' }, { doubleValue: 'NaN' }, { doubleValue: '-Infinity' }] } } },
      '[0.5,"NaN","-Infinity"]',
    ],
    [
      'has bytes as base64',
      { body: { kvlistValue: { values: [{ key: 'a', value: { bytesValue: base64('\u0001ü') } }] } } },
      `{"a":"${base64('\u0001ü')}"}`,
    ],
    ['has true, false and nothing', { body: anyValueOf([true, false, null]) }, '[true,false,null]'],
    ['has a key without a value', { body: { kvlistValue: { values: [{ key: 'a' }] } } }, '{"a":null}'],
    ['has 32 levels', { body: nested(32) }, brackets(32, '"x"')],
  ])('%s', (_what, record, expected) => {
    expect(textsIn(take(encoding, ENCODERS[encoding]([record])))).toEqual([expected]);
  });

  test('keeps what is deeper than 32 levels as a text', () => {
    const [deep = ''] = textsIn(take(encoding, ENCODERS[encoding]([{ body: nested(400) }])));
    const kept = /^\[{32}"(.*)"\]{32}$/s.exec(deep)?.[1] ?? '';
    const inner = nested(368).arrayValue;
    expect(encoding === 'json' ? JSON.parse(`"${kept}"`) : kept.length > 368).toEqual(encoding === 'json' ? JSON.stringify(inner) : true);
  });

  test('is the same whatever was in the values, and in their order', () => {
    const letters = fc.string({ unit: 'binary' });
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger());
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.oneof(letters, number, fc.boolean(), fc.constant(null)),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(letters, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    const record = fc.dictionary(letters, tree, { maxKeys: 6, noNullPrototype: true });
    assertProperty(
      fc.property(fc.array(fc.tuple(record, fc.constantFrom('body', 'attributes', 'text')), { maxLength: 5 }), (records) => {
        const sent = records.map(([values, where]): LogRecord => {
          if (where === 'body') return { body: anyValueOf(values) };
          return where === 'text' ? { body: text(JSON.stringify(values)) } : { attributes: keyValuesOf(values) };
        });
        const got = textsIn(take(encoding, ENCODERS[encoding](sent))).map((one) => JSON.parse(one));
        expect(got).toEqual(records.map(([values]) => values));
      }),
    );
  });

  test('is refused with the whole where there is more JSON than is allowed', () => {
    // A byte becomes six.
    const body = ENCODERS[encoding]([{ body: anyValueOf({ a: `\u0001`.repeat(6 * 1024 * 1024) }) }]);
    expect(take(encoding, body)).toMatchObject({ kind: 'fault', index: 0, isTooLarge: true });
  });
});

describe('a request in protobuf that is none', () => {
  /** A message with one log record. */
  const requestWith = (write: (writer: PbfWriter) => void): Buffer => {
    const writer = new PbfWriter();
    const inside = (level: number) => (_: null, one: PbfWriter) =>
      level === 0 ? write(one) : one.writeMessage(level === 3 ? 1 : 2, inside(level - 1), null);
    inside(3)(null, writer);
    return Buffer.from(writer.finish());
  };

  test.each<[what: string, body: Uint8Array, reason: RegExp]>([
    ['text', Buffer.from('{"resourceLogs":[]}'), /wire type/],
    ['a length past the end', Uint8Array.of(0x0a, 0x7f, 0x00), /127 bytes are to come at byte 2, and 1 do/],
    ['a length of 64 bits', Uint8Array.of(0x0a, ...Array(9).fill(0xff), 0x01), /bytes are to come at byte 11, and 0 do/],
    ['a length that does not end', Uint8Array.of(0x0a, ...Array(12).fill(0xff)), /varint/],
    ['a field that is cut', Uint8Array.of(0x0a), /varint/],
    ['a group', Uint8Array.of(0x0b), /wire type 3; allowed: 0, 1, 2, 5/],
    ['the field 0', Uint8Array.of(0x00, 0x00), /goes on past byte/],
    [
      'a body that is longer than its log record',
      requestWith((record) => [0x2a, 5, 1].forEach((byte) => void record.writeVarint(byte))),
      /5 bytes are to come/,
    ],
    ['eight bytes that are five', requestWith((record) => record.writeBytesField(5, Uint8Array.of(0x21, 1, 2, 3, 4))), /goes on past byte/],
  ])('%s', (_what, body, reason) => {
    expect(take('protobuf', body)).toEqual({ kind: 'fault', index: 0, reason: expect.stringMatching(reason) });
  });

  test('fields that are not known, of any type, are passed over', () => {
    const body = requestWith((record) => {
      record.writeVarintField(99, 2 ** 40);
      record.writeDoubleField(98, 1.5);
      record.writeFloatField(97, 1.5);
      record.writeVarintField(5, 1);
      for (const text of ['first', '{"last":"body counts"}']) {
        record.writeMessage(5, (_, value: PbfWriter) => value.writeStringField(1, text), null);
      }
      record.writeMessage(6, (_, attribute: PbfWriter) => attribute.writeFloatField(2, 1), null);
    });
    expect(textsIn(take('protobuf', body))).toEqual(['{"last":"body counts"}']);
  });
});

describe('a request in JSON', () => {
  const around = (logRecord: string): Buffer => Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${logRecord}]}]}]}`);
  const longKey = 'k'.repeat(1024 * 1024);
  /** Lists of keys and values inside one another, of each of which another key than that before the value counts. */
  const keysTwice = (levels: number): string =>
    levels === 0
      ? '{"intValue":1}'
      : `{"kvlistValue":{"values":[{"key":"a longer one","value":${keysTwice(levels - 1)},"key":"b"},{"value":{},"key":"c"}]}}`;

  test.each<[what: string, body: string, reason: RegExp]>([
    ['nothing', '', /the body ends in the middle of it/],
    ['a list', '[]', /unexpected "\[\]" at byte 0/],
    ['more than one', '{} {}', /unexpected "{}" at byte 3/],
    ['no list of log records', '{"resourceLogs":{}}', /unexpected "{}}" at byte 16/],
    ['a log record that is none', around('5').toString(), /unexpected "5\]}\]}\]}" at byte/],
    ['a body that is no value', around('{"body":"x"}').toString(), /unexpected/],
    ['attributes that are no list', around('{"attributes":{}}').toString(), /unexpected/],
    ['a key that is no text', around('{"attributes":[{"key":5}]}').toString(), /unexpected "5/],
    ['a number that is none', around('{"body":{"intValue":01}}').toString(), /unexpected/],
  ])('that is none: %s', (_what, body, reason) => {
    expect(take('json', Buffer.from(body))).toEqual({ kind: 'fault', index: 0, reason: expect.stringMatching(reason) });
  });

  test.each<[what: string, body: Buffer, expected: readonly string[]]>([
    ['of nothing', Buffer.from(' {} '), []],
    ['with null for lists', Buffer.from('{"resourceLogs":null}'), []],
    ['with null for all else', around('{"body":null,"attributes":null}'), ['{}']],
    ['with a key behind its value', around('{"attributes":[{"value":{"intValue":"1"},"key":"a"},{"value":{}}]}'), ['{"a":1,"":null}']],
    [
      'with members twice, of which the last counts',
      around('{"attributes":[],"attributes":[{"key":"x","key":"a","value":{"intValue":"1"},"value":{"stringValue":"2","intValue":3}}]}'),
      ['{"a":3}'],
    ],
    [
      'with log records in two lists of one name',
      Buffer.from('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}],"logRecords":[{}]}]}],"resourceLogs":[]}'),
      ['{}', '{}'],
    ],
    [
      'with escapes in names',
      around('{"\\u0062ody":{"kvlistValue":{"values":[{"\\u006bey":"\\u0061","value":{"stringValue":"\\n"}}]}}}'),
      ['{"\\u0061":"\\n"}'],
    ],
    [
      'with 32 levels whose keys stand there twice',
      around(`{"body":${keysTwice(32)}}`),
      [`${'{"b":'.repeat(32)}1${',"c":null}'.repeat(32)}`],
    ],
    [
      'with a long key and very many values',
      around(`{"attributes":[{"key":"${longKey}"${',"value":{}'.repeat(100_000)}}]}`),
      [`{"${longKey}":null}`],
    ],
    ['with what is passed over, however deep', around(`{"x":${brackets(5_000, '"]"')},"body":{"stringValue":"{}"}}`), ['{}']],
  ])('%s', (_what, body, expected) => {
    expect(textsIn(take('json', body))).toEqual(expected);
  });
});

import { describe, expect, test } from 'vitest';
import type { EnvelopeFault, TakeApart } from '../../../ingest/doors/envelope.ts';
import { takeHecEvents, takeHecLines } from '../../../ingest/doors/splunk-hec.ts';

/** The records of a body as texts, or what is wrong with it. Bytes that are no UTF-8 are told as latin1. */
function recordsOf(take: TakeApart, body: string | Buffer): readonly string[] | EnvelopeFault {
  const taken = take(Buffer.concat([Buffer.from(body as string), Buffer.of(0)]));
  if (taken.kind === 'fault') return taken;
  const { bytes, count, starts, ends } = taken.records;
  return Array.from({ length: count }, (_, index) => bytes.subarray(starts[index], ends[index]).toString());
}

const fault = (code: number, index: number, reason: string) => ({ kind: 'fault', code, index, reason: expect.stringContaining(reason) });

const RECORD = '{"shieldZoneId":7,"log":{"text":"é\\n"}}';
const inText = JSON.stringify(RECORD);
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('events of a collector', () => {
  test.each<[what: string, body: string | Buffer, records: readonly string[]]>([
    ['none', '', []],
    ['nothing but blanks', ' \r\n\t', []],
    ['an object', `{"time":1.5,"host":"h","event":${RECORD}}`, [RECORD]],
    ['an object with blanks around and inside it', ` {\n "event" : ${RECORD} , "fields":{"event":1}}\n`, [RECORD]],
    ['a text that is an object', `{"event":${inText}}`, [RECORD]],
    ['a text without escapes', '{"event":"plain é"}', ['plain é']],
    ['a text with blanks around it', '{"event":" \\n{}\\t"}', ['{}']],
    [
      'a text with escapes of every kind',
      '{"event":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\ud800."}',
      ['"\\/\b\f\n\r\t\u00e9\u{1f600}\ufffd.'],
    ],
    ['objects back to back', `{"event":${RECORD}}{"event":${inText}}{"event":{"b":2}}`, [RECORD, RECORD, '{"b":2}']],
    ['objects on lines', `{"event":${RECORD}}\r\n{"event":{}}\n\n{"event":{}}`, [RECORD, '{}', '{}']],
    ['a name with escapes', '{"\\u0065vent":{"a":1}}', ['{"a":1}']],
    ['a name twice, of which the last counts', '{"event":1,"event":{"a":1}}', ['{"a":1}']],
    ['what is no object', '{"event":5}{"event":[1]}{"event":true}', ['5', '[1]', 'true']],
    ['a record of a thousand levels', `{"event":${nested(1_000)}}`, [nested(1_000)]],
    [
      'a record that is too deep, beside others',
      `{"event":{}}{"event":${nested(10_000)}}{"event":{}}`,
      ['{}', `{"event":${nested(10_000)}}`, '{}'],
    ],
  ])('%s', (_what, body, records) => {
    expect(recordsOf(takeHecEvents, body)).toEqual(records);
  });

  test('bytes that are no UTF-8 stay as they are, also in a text with escapes', () => {
    const body = Buffer.from('{"event":"{\\"url\\":\\"\xff\\u00e9\\ud83d\\ude00\xe9\\"}"}', 'latin1');
    const taken = takeHecEvents(Buffer.concat([body, Buffer.of(0)]));
    if (taken.kind === 'fault') throw new Error(taken.reason);
    const { bytes, starts, ends } = taken.records;
    const expected = Buffer.concat([Buffer.from('{"url":"\xff', 'latin1'), Buffer.from('é😀'), Buffer.from('\xe9"}', 'latin1')]);
    expect(bytes.subarray(starts[0], ends[0])).toEqual(expected);
  });

  test.each<[what: string, body: string, expected: unknown]>([
    ['an object that is cut', `{"event":{}}{"event":{`, fault(6, 1, 'the object 1 is not JSON: the body ends in the middle of it')],
    ['a string that is cut', '{"event":"', fault(6, 0, 'the body ends in the middle of it')],
    ['a deep record that is cut', `{"event":${'['.repeat(10_000)}`, fault(6, 0, 'the object 0 is not JSON')],
    [
      'an array',
      '[{"event":{}}]',
      fault(6, 0, 'unexpected "[{\\"event\\":{}}]" at byte 0; allowed: objects such as {"event":{…}}, back to back'),
    ],
    ['a comma between objects', '{"event":{}},{"event":{}}', fault(6, 1, 'unexpected ",{')],
    ['a NUL', '{"event":{}}\0', fault(6, 1, 'unexpected "\\u0000" at byte 12')],
    ['no event', '{"event":{}}{"time":1}', fault(12, 1, 'the object 1 has no "event"')],
    ['null', '{"event":null}', fault(12, 0, 'has no "event"')],
    ['an event of another level alone', '{"fields":{"event":{}}}', fault(12, 0, 'has no "event"')],
    ['a blank text', '{"event":{}}{"event":" \\n"}', fault(13, 1, '"event" of the object 1 is a blank text')],
    ['an empty text', '{"event":""}', fault(13, 0, 'blank')],
  ])('%s is a fault of the whole', (_what, body, expected) => {
    expect(recordsOf(takeHecEvents, body)).toEqual(expected);
  });
});

describe('raw lines', () => {
  test.each<[what: string, body: string, records: readonly string[]]>([
    ['none', '\n \r\n', []],
    ['one without a newline', RECORD, [RECORD]],
    ['several, and blank ones', `${RECORD}\r\n\n  {"a":1} \nplain`, [RECORD, '{"a":1}', 'plain']],
  ])('%s', (_what, body, records) => {
    expect(recordsOf(takeHecLines, body)).toEqual(records);
  });
});

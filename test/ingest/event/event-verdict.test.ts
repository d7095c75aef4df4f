import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { BATCH_COLUMNS } from '../../../query/batch-columns.ts';
import { HOUR, NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const NO_FIELDS = { values: BATCH_COLUMNS.map(() => []), masks: [] };
const MIB = 1024 * 1024;

function verdictOn(event: string | Uint8Array) {
  return new BatchBuilder(RULES).addEvent('http', typeof event === 'string' ? Buffer.from(event) : event);
}

/** An event of that length without a log of its own, and one with that much in its log and beside it, of which nothing is added to it. */
const ofBytes = (bytes: number, more: object = {}) => {
  const event = { log: undefined, ...more };
  return rawEvent({ ...event, ua: 'x'.repeat(bytes - rawEvent({ ...event, ua: '' }).length) });
};
const withLogOf = (logBytes: number, restBytes: number, more: object = {}) => {
  const log = '{}'.length;
  return ofBytes(restBytes + log, { log: {}, ...more }).replace('"log":{}', () => `"log":{"ua":"${'x'.repeat(logBytes - 9)}"}`);
};
const REST = MIB + 1024;
const notUtf8 = (inside: string) => Buffer.from(rawEvent({ log: { a: '@' } }).replace('@', inside), 'latin1');
const wrongEscape = (before: string) =>
  new RegExp(`^the event is not UTF-8 at byte ${notUtf8('').lastIndexOf('"') + before.length}: in an escape nothing is repaired$`);
const largerWhenRepaired = Buffer.from(rawEvent({ ua: '', log: undefined }).replace('""', `"${'\xff'.repeat(400_000)}"`), 'latin1');
const nested = (levels: number) => rawEventWith(`"log":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}`);

describe('an event is rejected, naming the field, its value and what is allowed:', () => {
  test.each<[what: string, event: string | Uint8Array, reason: RegExp]>([
    ['larger than 1 MiB', ofBytes(MIB + 1), /^the event has 1048577 bytes: at most 1048576 are allowed$/],
    [
      'a log larger than 1 MiB',
      withLogOf(MIB + 1, 100),
      /^the log has 1048577 bytes, with the members that are no fields, and those that are too long for one: at most 1048576 /,
    ],
    [
      'a log larger than 1 MiB with the members that are added to it',
      withLogOf(MIB, 200, { more: 1 }),
      /^the log has 1048585 bytes, with the members that are no fields, and those that are too long for one: at most/,
    ],
    [
      'a log larger than 1 MiB with the long text that is added to it',
      rawEvent({ log: { a: 'x'.repeat(MIB - 8 - 70_000 - 8) }, ua: 'x'.repeat(70_001) }),
      /^the log has 1048577 bytes, with the members that are no fields, and those that are too long for one: at most/,
    ],
    ['larger than 1 MiB and 1 KiB beside its log', withLogOf(20, REST + 1), /^the event has 1049601 bytes beside its log, .* 1049600 are/],
    [
      'as large with the logId that it gets',
      withLogOf(20, REST - 42, { logId: undefined }),
      /^the event has 1049601 bytes beside its log, with its logId: at most 1049600 are allowed$/,
    ],
    ['longer than any line', Buffer.alloc(2 * MIB + 1025, 'x'), /^the event has 2098177 bytes: at most 1048576 are/],
    ['nothing', '', /not JSON: it ends in the middle, after 0 bytes/],
    ['not UTF-8 outside of a string', Buffer.from('{\xff}', 'latin1'), /^the event is not UTF-8 at byte 1: outside of a string nothing/],
    ['not UTF-8 behind a backslash', notUtf8('/a\\\xff'), wrongEscape('/a\\')],
    ['not UTF-8 among the digits of an escape', notUtf8('\\u00\xff1'), wrongEscape('\\u00')],
    ['a letter behind a backslash', notUtf8('\\\xc3\xa9'), /^the event is not JSON: unexpected "é/],
    ['an escape that is cut off before what is not UTF-8', notUtf8('\\u0","x":"\xff'), /^the event is not JSON: unexpected "u0\\"/],
    ['U+FFFD outside of a string', '{\ufffd}', /not JSON: unexpected "\ufffd}" at byte 1$/],
    ['no UTF-8 in a text, and cut off', notUtf8('\xff').subarray(0, -1), /not JSON: it ends in the middle/],
    [
      'larger than 1 MiB once it is repaired',
      largerWhenRepaired,
      /^the event has 4000\d\d bytes, and 12000\d\d with U\+FFFD .*: at most 1048576 /,
    ],
    ['cut off', rawEvent().slice(0, -1), /not JSON: it ends in the middle/],
    ['cut off in a string', rawEvent().slice(0, 5), /not JSON: it ends in the middle/],
    ['two words', 'not json', /not JSON: unexpected "not json" at byte 0$/],
    ['a control character', '\x1b[2J\r\n', /not JSON: unexpected "\\u001b\[2J\\r\\n" at byte 0$/],
    ['letters cut in the middle of one', `x${'é'.repeat(30)}`, /not JSON: unexpected "xé{9}" at byte 0$/],
    ['a word', 'hello', /not JSON: unexpected "hello" at byte 0$/],
    ['two objects', `${rawEvent()}{}`, /not JSON: unexpected "\{\}" at byte/],
    ['a comma too many', rawEvent().replace(/}$/, ',}'), /not JSON: unexpected "}" at byte/],
    ['a comma too many in an array', rawEvent({ log: { a: [] } }).replace('[]', '[1,]'), /not JSON: unexpected "]}}" at byte/],
    ['no comma', rawEvent().replace(',', ' '), /not JSON: unexpected "\\"shieldZoneId\\":7/],
    ['no colon', rawEvent().replace(':', ' '), /not JSON: unexpected "\\"a\\",/],
    ['brackets that do not match', rawEvent({ log: { a: [] } }).replace('[]', '[}'), /not JSON/],
    ['NaN', rawEventWith('"n":NaN'), /not JSON: unexpected "NaN}" at/],
    ['Infinity', rawEventWith('"n":-Infinity'), /not JSON/],
    ['a number with a leading zero', rawEventWith('"n":012'), /not JSON: unexpected "12}" at/],
    ['a number that ends in a point', rawEventWith('"n":1.'), /not JSON/],
    ['a number with an empty exponent', rawEventWith('"n":1e+'), /not JSON/],
    ['a number with a plus', rawEventWith('"n":+1'), /not JSON/],
    ['a word that begins like true', rawEventWith('"n":truth'), /not JSON: unexpected "truth}" at/],
    ['single quotes', rawEventWith("'n':1"), /not JSON/],
    ['a comment', rawEventWith('/* */"n":1'), /not JSON/],
    ['a form feed between tokens', rawEventWith('\f"n":1'), /not JSON/],
    ['a NUL between tokens', rawEventWith('\0"n":1'), /not JSON/],
    ['a raw newline in a string', rawEventWith('"n":"a\nb"'), /not JSON/],
    ['a raw tab in a string', rawEventWith('"n":"a\tb"'), /not JSON/],
    ['an unknown escape', rawEventWith('"n":"\\x41"'), /not JSON/],
    ['an escape of three digits', rawEventWith('"n":"\\u041"'), /not JSON/],
    ['too deep nesting', nested(1001), /^the event nests deeper than 1000 levels$/],
    ['an array', '[]', /^the event is \[]: a JSON object is required$/],
    ['null', ' null', /^the event is null: a JSON object is required$/],
    ['a text', '"text"', /^the event is "text": a JSON object is required$/],
    ['no zone', rawEvent({ shieldZoneId: undefined }), /^shieldZoneId is missing: an integer from -2147483648 to 2147483647 is required$/],
    ['a zone that is null', rawEvent({ shieldZoneId: null }), /^shieldZoneId is null:/],
    ['a zone that is a fraction', rawEvent({ shieldZoneId: 1.5 }), /^shieldZoneId is 1\.5:/],
    ['a zone with an exponent', rawEvent().replace(':7', ':7e0'), /^shieldZoneId is 7e0:/],
    ['a zone that is true', rawEvent({ shieldZoneId: true }), /^shieldZoneId is true:/],
    ['a zone that is an object with an escape', rawEvent().replace(':7', ':{"\\n":1}'), /^shieldZoneId is \{"\\n":1}:/],
    ['a timestamp that is a list with an escape', rawEvent().replace(String(NOW), '["\\n"]'), /^timestamp is \["\\n"]:/],
    ['a zone that is an empty text', rawEvent({ shieldZoneId: '' }), /^shieldZoneId is "":/],
    ['a zone that is a text with a blank', rawEvent({ shieldZoneId: '7 ' }), /^shieldZoneId is "7 ":/],
    ['a zone that is a text with a minus', rawEvent({ shieldZoneId: '-7' }), /^shieldZoneId is "-7":/],
    ['a zone that is a text with an exponent', rawEvent({ shieldZoneId: '7e0' }), /^shieldZoneId is "7e0":/],
    ['a zone that is a text of other digits', rawEvent({ shieldZoneId: '\u0667' }), /^shieldZoneId is "\u0667":/],
    ['a zone past int32 in a text', rawEvent({ shieldZoneId: '2147483648' }), /^shieldZoneId is "2147483648":/],
    ['a zone past int32', rawEvent({ shieldZoneId: 2 ** 31 }), /^shieldZoneId is 2147483648:/],
    ['a zone below int32', rawEvent({ shieldZoneId: -(2 ** 31) - 1 }), /^shieldZoneId is -2147483649:/],
    ['no timestamp', rawEvent({ timestamp: undefined }), /^timestamp is missing: Unix milliseconds .* or an ISO 8601 text with a zone/],
    ['a timestamp that is a fraction', rawEvent({ timestamp: NOW + 0.5 }), /^timestamp is 1778599800000\.5:/],
    ['a timestamp with an exponent below zero', rawEventWith('"timestamp":17785998000001e-1'), /^timestamp is 17785998000001e-1: Unix/],
    ['a timestamp with an exponent past int64', rawEventWith('"timestamp":1e19'), /^timestamp is 1e19: Unix milliseconds/],
    ['a timestamp with an exponent past every number', rawEventWith('"timestamp":1e999999999'), /^timestamp is 1e999999999: Unix/],
    [
      'a timestamp of very many digits',
      rawEventWith(`"timestamp":${NOW}.${'0'.repeat(200)}1`),
      /^timestamp is 1778599800000\.0{66}…: Unix/,
    ],
    ['a time in seconds', rawEvent({ timestamp: NOW / 1000 }), /^timestamp is 1778599800, which is an allowed time in seconds: Unix mill/],
    ['the first allowed time, in seconds', rawEvent({ timestamp: NOW / 1000 - 72 * 3600 }), /^timestamp is 1778340600, .* seconds:/],
    ['the last allowed time, in seconds', rawEvent({ timestamp: NOW / 1000 + 600 }), /^timestamp is 1778600400, .* seconds:/],
    ['seconds with a fraction', rawEventWith('"timestamp":1778599800.123456'), /^timestamp is 1778599800\.123456, .* in seconds: Unix/],
    ['seconds with an exponent', rawEventWith('"timestamp":1.7785998e9'), /^timestamp is 1\.7785998e9, .* in seconds: Unix/],
    ['a time in microseconds', rawEvent({ timestamp: NOW * 1000 + 1 }), /^timestamp is 1778599800000001, .* in microseconds: Unix/],
    ['a time in nanoseconds', rawEventWith(`"timestamp":${NOW}123456`), /^timestamp is 1778599800000123456, .* in nanoseconds: Unix/],
    ['a time past the allowed ones in microseconds', rawEvent({ timestamp: (NOW + 600_001) * 1000 }), /at most 10 minutes after now/],
    ['a timestamp that is true', rawEvent({ timestamp: true }), /^timestamp is true:/],
    [
      'seconds in a text',
      rawEvent({ timestamp: '1778599800' }),
      /^timestamp is "1778599800", which is an allowed time in seconds: Unix mill/,
    ],
    ['seconds with a fraction in a text', rawEvent({ timestamp: '1778599800.5' }), /^timestamp is "1778599800\.5", .* in seconds: Unix/],
    ['microseconds in a text', rawEvent({ timestamp: `${NOW}001` }), /^timestamp is "1778599800000001", .* in microseconds: Unix/],
    ['nanoseconds in a text', rawEvent({ timestamp: `${NOW}123456` }), /^timestamp is "1778599800000123456", .* in nanoseconds: Unix/],
    ['milliseconds with a fraction in a text', rawEvent({ timestamp: `${NOW}.0` }), /^timestamp is "1778599800000\.0": Unix/],
    ['a timestamp that is a text with a blank', rawEvent({ timestamp: ` ${NOW}` }), /^timestamp is " 1778599800000": Unix/],
    ['a timestamp that is a text with a minus', rawEvent({ timestamp: `-${NOW}` }), /^timestamp is "-1778599800000": Unix/],
    ['a timestamp that is an empty text', rawEvent({ timestamp: '' }), /^timestamp is "": Unix/],
    ['a timestamp past int64 in a text', rawEvent({ timestamp: '9223372036854775808' }), /^timestamp is "9223372036854775808": Unix/],
    [
      'digits ahead in a text',
      rawEvent({ timestamp: String(NOW + 600_001) }),
      /^timestamp is "1778600400001": at most 10 minutes after now/,
    ],
    ['a timestamp past int64', rawEventWith('"timestamp":9223372036854775808'), /^timestamp is 9223372036854775808:/],
    ['a timestamp below int64', rawEventWith('"timestamp":-9223372036854775809'), /^timestamp is -9223372036854775809:/],
    ['a time without a zone', rawEvent({ timestamp: '2026-05-12T15:30:00' }), /^timestamp is "2026-05-12T15:30:00":/],
    ['a day that does not exist', rawEvent({ timestamp: '2026-02-29T00:00:00Z' }), /^timestamp is "2026-02-29/],
    [
      'more than 10 minutes ahead',
      rawEvent({ timestamp: NOW + 600_001 }),
      /^timestamp is 1778600400001: at most 10 minutes after now, .* allowed$/,
    ],
    ['far ahead', rawEventWith('"timestamp":9223372036854775807'), /^timestamp is 9223372036854775807: at most 10 minutes after now/],
    ['ahead with an exponent', rawEventWith('"timestamp":1.8e12'), /^timestamp is 1\.8e12: at most 10 minutes after now/],
    ['ahead as a text', rawEvent({ timestamp: '2099-01-01T00:00:00Z' }), /^timestamp is "2099-01-01T00:00:00Z": at most 10 minutes after/],
    ['an empty logId', rawEvent({ logId: '' }), /^logId is "": a text or a number of 1 to 512 bytes is required$/],
    ['a logId that is true', rawEvent({ logId: true }), /^logId is true: a text or a number of 1 to 512 bytes is required$/],
    [
      'a logId that is a number of too many digits',
      rawEventWith(`"logId":${'1'.repeat(513)}`),
      /^logId is 1{80}…, which has 513 bytes: a text/,
    ],
    [
      'a logId that is too long',
      rawEvent({ logId: 'é'.repeat(257) }),
      /^logId is "é{39}…", which has 514 bytes: a text or a number of 1 to 512 bytes is required$/,
    ],
    [
      'a logId that is too long, written with escapes',
      rawEvent().replace('"a"', `"${'\\u00e9'.repeat(257)}"`),
      /^logId is "(\\u00e9){13}.*…", which has 514 bytes: /,
    ],
    ['a long text instead of an event', JSON.stringify('x'.repeat(100)), /^the event is "x{79}…": a JSON object is required$/],
    ['a long array instead of an event', `[${'1,'.repeat(100)}1]`, /^the event is \[(1,)+1?…: a JSON object is required$/],
    ['an ip that is a number', rawEvent({ ip: 3232235777 }), /^ip is 3232235777: a string or null is required$/],
    ['a ua that is a number', rawEvent({ ua: 5 }), /^ua is 5: a string or null is required$/],
    ['a url that is a number', rawEvent({ url: 5 }), /^url is 5: a string or null is required$/],
    ['a text field that is an object', rawEvent({ action: { a: 1 } }), /^action is \{"a":1}: a string, a number or null is required$/],
    ['a text field that is a list', rawEvent({ feature: [1] }), /^feature is \[1]: a string, a number or null is required$/],
    ['a text field that is true', rawEvent({ country: true }), /^country is true: a string, a number or null is required$/],
    ['a text field that is false', rawEvent({ ruleId: false }), /^ruleId is false: a string, a number or null is required$/],
    ['an asn of AS alone', rawEvent({ asn: 'AS' }), /^asn is "AS": decimal digits are required/],
    ['an asn of letters', rawEvent({ asn: 'ASX' }), /^asn is "ASX": decimal digits are required/],
    ['an asn that is a fraction', rawEvent({ asn: 1.5 }), /^asn is 1\.5:/],
    ['an asn below zero', rawEvent({ asn: -5 }), /^asn is -5:/],
    ['an asn that is true', rawEvent({ asn: true }), /^asn is true:/],
    ['a log that is a text', rawEvent({ log: '{}' }), /^log is "\{}": a JSON object is required$/],
    ['a log that is an array', rawEvent({ log: [] }), /^log is \[]: a JSON object is required$/],
    ['a value that is long, cut short', rawEvent({ shieldZoneId: 'é'.repeat(100) }), /^shieldZoneId is "é{39}…": an integer/],
  ])('%s', (_what, event, reason) => {
    const builder = new BatchBuilder(RULES);
    const bytes = typeof event === 'string' ? Buffer.from(event) : event;
    const verdict = builder.addEvent('http', bytes);
    expect(verdict).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(reason) });
    const { fields, logs, eventCount, deadLetters } = builder.take();
    expect({ fields, logs, eventCount }).toEqual({ fields: NO_FIELDS, logs: [], eventCount: 0 });
    expect(deadLetters).toHaveLength(1);
    // Only the start is kept of a text that is longer than any event.
    const kept = bytes.length > 1024 * 1024 ? bytes.subarray(0, 64 * 1024) : bytes;
    expect(Buffer.from(deadLetters[0]?.bytes ?? []).equals(kept)).toBe(true);
    expect(deadLetters[0]).toMatchObject({ source: 'http', topic: null, partition: null, offset: null });
  });
});

describe('an event is accepted at the very edge of a rule:', () => {
  test.each<[what: string, event: string]>([
    ['1 MiB', ofBytes(MIB)],
    ['1 MiB in its log, and as much and a kibibyte beside it', withLogOf(MIB, REST)],
    ['the same with the logId that it gets', withLogOf(MIB, REST - 43, { logId: undefined })],
    ['1 MiB in its log with what is added to it', withLogOf(MIB - 9, 200, { more: 1 })],
    [
      '1 MiB in its log with the long text that is added to it',
      rawEvent({ log: { a: 'x'.repeat(MIB - 8 - 70_000 - 8) }, ua: 'x'.repeat(70_000) }),
    ],
    ['1000 levels', nested(1000)],
    ['the largest zone', rawEvent({ shieldZoneId: 2 ** 31 - 1 })],
    ['the smallest zone', rawEvent({ shieldZoneId: -(2 ** 31) })],
    ['a whole number with a point', rawEventWith(`"timestamp":${NOW}.0`)],
    ['a whole number with thousands of zeros', rawEventWith(`"timestamp":${NOW}.${'0'.repeat(5000)}`)],
    ['the same with an exponent', rawEventWith(`"timestamp":0.${'0'.repeat(5000)}${NOW}E+5013`)],
    ['a whole number with an exponent', rawEventWith('"timestamp":1.7785998e12')],
    ['a whole number with an exponent below zero', rawEventWith(`"timestamp":${NOW}000E-3`)],
    ['10 minutes ahead', rawEvent({ timestamp: NOW + 600_000 })],
    ['as old as the retention', rawEvent({ timestamp: NOW - 72 * HOUR })],
    ['the longest logId', rawEvent({ logId: 'é'.repeat(256) })],
    ['the longest logId, written with escapes', rawEvent().replace('"a"', `"${'\\u00e9'.repeat(256)}"`)],
    ['a surrogate pair', rawEventWith('"n":"\\ud83d\\ude00"')],
  ])('%s', (_what, event) => {
    expect(verdictOn(event)).toMatchObject({ kind: 'accepted' });
  });
});

test('an event older than the retention is counted and not kept', () => {
  const builder = new BatchBuilder(RULES);
  const beforeInSeconds = NOW / 1000 - 72 * 3600 - 1;
  for (const timestamp of [NOW - 72 * HOUR - 1, 0, -5, Number.MIN_SAFE_INTEGER, beforeInSeconds, '1970-01-21T14:03:19.800Z']) {
    expect(builder.addEvent('file', Buffer.from(rawEvent({ timestamp })))).toEqual({ kind: 'expired' });
  }
  expect(builder.isEmpty).toBe(false);
  expect(builder.take()).toEqual({ fields: NO_FIELDS, logs: [], eventCount: 0, sourceOffsets: [], deadLetters: [], expiredCount: 6 });
  expect(builder.isEmpty).toBe(true);
});

import { describe, expect, test } from 'vitest';
import { MAX_NESTING } from '../../../ingest/event/json-skipper.ts';
import { kernelConversion, scannedConversion } from './conversions.ts';
import { rawEvent } from './raw-events.ts';

/**
 * Nobody reads a log again before it is shown, so what is no JSON in UTF-8 has to be refused here. In Latin-1, so that any bytes can be
 * written.
 */
const eventWith = (log: string) =>
  Buffer.from(
    rawEvent({ url: '/search' }).replace('{}', () => log),
    'latin1',
  );
const withText = (text: string) => `{"a":"${text}"}`;

/** By what the event is otherwise: as most are, without a log of its own, with a member that is added to its log. */
const EVENTS: readonly [kind: string, event: (log: string) => Buffer][] = [
  ['in its log', eventWith],
  ['in a log put together anew', (log) => Buffer.from(eventWith(log).toString('latin1').replace(/}$/, ',"asn":5,"more":1}'), 'latin1')],
  ['in an event that is its own log', (log) => Buffer.from(eventWith(log).toString('latin1').replace('"log"', '"other"'), 'latin1')],
  [
    'in a member that is added to its log',
    (log) => Buffer.from(eventWith('{}').toString('latin1').replace(/}$/, `,"more":${log}}`), 'latin1'),
  ],
];

describe.each(EVENTS)('an event is refused that has %s', (_where, event) => {
  test.each<[what: string, log: string]>([
    ['a number with a leading zero', '{"a":01}'],
    ['a number below zero with a leading zero', '{"a":-01}'],
    ['two zeros', '{"a":00}'],
    ['a number that ends in a point', '{"a":1.}'],
    ['a point before an exponent', '{"a":1.e5}'],
    ['a number that begins with a point', '{"a":.5}'],
    ['a number with a plus', '{"a":+1}'],
    ['a minus alone', '{"a":-}'],
    ['an exponent without digits', '{"a":1e}'],
    ['an exponent of a sign', '{"a":1e-}'],
    ['an exponent that is a fraction', '{"a":1e0.5}'],
    ['a hexadecimal number', '{"a":0x10}'],
    ['a number with a separator', '{"a":1_000}'],
    ['a number of another type', '{"a":1n}'],
    ['NaN', '{"a":NaN}'],
    ['nan', '{"a":nan}'],
    ['Infinity', '{"a":Infinity}'],
    ['Infinity below zero', '{"a":-Infinity}'],
    ['undefined', '{"a":undefined}'],
    ['True', '{"a":True}'],
    ['a word that goes on', '{"a":nullx}'],
    ['a comma too many', '{"a":1,}'],
    ['a comma too many in an array', '{"a":[1,]}'],
    ['a missing value', '{"a":}'],
    ['a name without quotes', '{a:1}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{"a":1/**/}'],
    ['a comment to the end of the line', '{"a":1//\n}'],
    ['brackets that do not match', '{"a":[1}]'],
    ['a bracket that is never closed', '{"a":[1}'],
    ['another value behind it', '{"a":1}{}'],
    ['an escape that JSON does not have', withText('\\x41')],
    ['an escape of a quote that needs none', withText("\\'")],
    ['an escape of an octal number', withText('\\0')],
    ['an escape of a letter of the other case', withText('\\N')],
    ['an escaped newline', withText('\\\n')],
    ['an escape of three digits', withText('\\u041')],
    ['an escape with a letter that is no digit', withText('\\u00g0')],
    ['an escape with a sign', withText('\\u+041')],
    ['an escape in braces', withText('\\u{41}')],
    ['an escape with a large letter', withText('\\U0041')],
    ['a NUL in a text', withText('\0')],
    ['the mark of a value in a text', withText('\x01')],
    ['the mark of another', withText('a\x04')],
    ['a tab in a text', withText('\t')],
    ['a newline in a text', withText('a\nb')],
    ['a carriage return in a text', withText('a\rb')],
    ['the last of the control characters in a text', withText('\x1f')],
    ['a control character in a name', '{"\x02":1}'],
    ['the mark of a value between tokens', '{\x01"a":1}'],
    ['a mark instead of a text', '{"a":\x01}'],
    ['a NUL between tokens', '{\0"a":1}'],
    ['a form feed between tokens', '{\f"a":1}'],
    ['a vertical tab between tokens', '{\v"a":1}'],
    ['DEL between tokens', '{\x7f"a":1}'],
    ['a space of Unicode between tokens', '{\xc2\xa0"a":1}'],
    ['a byte order mark between tokens', '\xef\xbb\xbf{"a":1}'],
    ['more levels than are allowed', `{"a":${'['.repeat(MAX_NESTING)}${']'.repeat(MAX_NESTING)}}`],
  ])('%s', (_what, log) => {
    expect(kernelConversion(event(log))).toBeNull();
    expect(scannedConversion(event(log))).toBeNull();
  });
});

describe('the kernel leaves to the scanner, which repairs it, an event whose log has', () => {
  test.each<[what: string, log: string]>([
    ['a byte that only continues', withText('\x80')],
    ['two that do', withText('a\xbf\xbf')],
    ['a character that is cut off', withText('\xe2\x82')],
    ['a character of four bytes that is cut off', withText('\xf0\x9f\x98')],
    ['a character cut off before a quote in an escape', withText('\xc3\\"')],
    ['a byte of Latin-1', withText('\xe9')],
    ['a slash in two bytes', withText('\xc0\xaf')],
    ['NUL in two bytes', withText('\xc0\x80')],
    ['DEL in two bytes', withText('\xc1\xbf')],
    ['a slash in three bytes', withText('\xe0\x80\xaf')],
    ['the last of two bytes in three', withText('\xe0\x9f\xbf')],
    ['the last of three bytes in four', withText('\xf0\x8f\xbf\xbf')],
    ['half a surrogate pair in bytes', withText('\xed\xa0\x80')],
    ['a whole pair in bytes', withText('\xed\xa0\xbd\xed\xb8\x80')],
    ['the last half in bytes', withText('\xed\xbf\xbf')],
    ['the first character past the last', withText('\xf4\x90\x80\x80')],
    ['a byte for characters that there are not', withText('\xf5\x80\x80\x80')],
    ['a character of five bytes', withText('\xf8\x88\x80\x80\x80')],
    ['the byte FE', withText('\xfe')],
    ['the byte FF', withText('\xff')],
    ['bytes that are no UTF-8 in a name', '{"\xff":1}'],
  ])('%s', (_what, log) => {
    expect(kernelConversion(eventWith(log))).toBeNull();
    const scanned = scannedConversion(eventWith(log));
    expect(Buffer.from(scanned?.log ?? '', 'latin1').toString()).toBe(new TextDecoder().decode(Buffer.from(log, 'latin1')));
  });
});

describe.each(EVENTS)('the kernel leaves to the scanner, which repairs it, an event that has %s', (_where, event) => {
  test.each<[what: string, log: string, repaired: string]>([
    ['half a surrogate pair in an escape', withText('\\ud800'), withText('\\ufffd')],
    ['the other half', withText('\\uDC00'), withText('\\ufffd')],
    ['half a pair before another escape', withText('\\ud800\\u0041'), withText('\\ufffd\\u0041')],
    ['half a pair before a whole one', withText('\\ud83d\\ud83d\\ude00'), withText('\\ufffd\\ud83d\\ude00')],
    ['a pair the other way round', withText('\\udc00\\ud800'), withText('\\ufffd\\ufffd')],
    ['half a pair behind a backslash', withText('\\\\\\udc00\\\\udc00'), withText('\\\\\\ufffd\\\\udc00')],
    ['half a pair at its end', withText('\\ud83d'), withText('\\ufffd')],
    ['half a pair in a name', '{"\\ud800":1}', '{"\\ufffd":1}'],
    ['half a pair beside a byte that is no UTF-8', withText('\xff\\ud800\xe9'), withText('\xef\xbf\xbd\\ufffd\xef\xbf\xbd')],
  ])('%s', (_what, log, repaired) => {
    expect(kernelConversion(event(log))).toBeNull();
    const [scanned, whole] = [scannedConversion(event(log)), scannedConversion(event(repaired))];
    expect(scanned?.log).toBe(whole?.log);
    expect(whole).not.toBeNull();
  });
});

describe('a log is written as it is that has', () => {
  test.each<[what: string, log: string]>([
    ['numbers of every form', '{"a":[0,-0,1,-1,10.25,0.0,1e5,1E+5,-1.5e-300,1e999,123456789012345678901234567890]}'],
    ['every escape', withText('\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u0001\\u001F\\u00e9\\uD83D\\uDE00\\uFFFF')],
    [
      'the first and the last characters of each length',
      withText('\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf'),
    ],
    ['line ends of Unicode', withText('\xc2\x85\xe2\x80\xa8\xe2\x80\xa9')],
    ['the same name twice', '{"a":1,"a":2,"":3}'],
    ['tabs and blanks between tokens', '{\t"a" :\t[ ]\t}'],
    ['as many levels as are allowed', `{"a":${'['.repeat(MAX_NESTING - 2)}${']'.repeat(MAX_NESTING - 2)}}`],
  ])('%s', (_what, log) => {
    const scanned = scannedConversion(eventWith(log));
    expect(scanned?.log).toBe(log);
    expect([scanned, null]).toContainEqual(kernelConversion(eventWith(log)));
  });
});

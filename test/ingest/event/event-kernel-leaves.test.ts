import { describe, expect, test } from 'vitest';
import { STORED_TEXT_BYTES } from '../../../query/text-bytes.ts';
import { kernelConversion, scannedConversion } from './conversions.ts';
import { LONGEST_KERNEL_EVENT, nested, ofBytes, withIp, withLog } from './kernel-events.ts';
import { HOUR, NOW, rawEvent, rawEventWith } from './raw-events.ts';

describe('the kernel leaves to the scanner an event', () => {
  test.each<[what: string, event: string | Uint8Array]>([
    ['of no bytes', ''],
    ['of blanks', '  '],
    ['without members', '{}'],
    ['that is an array', `[${rawEvent()}]`],
    ['with a logId that is null', rawEvent({ logId: null })],
    ['without a zone', rawEvent({ shieldZoneId: undefined })],
    ['without a time', rawEvent({ timestamp: undefined })],
    ['without a log', rawEvent({ log: undefined })],
    ['with a text that is null', rawEvent({ url: null })],
    ['with a text that is a number', rawEvent({ url: 5 })],
    ['with a log that is null', rawEvent({ log: null })],
    ['with a log that is an array', rawEvent({ log: [] })],
    ['with a member that is no field', rawEvent({ more: 1 })],
    ['with a member of the same length and last letter as a field', rawEvent({ ual: '' })],
    ['with a member that begins like a field', rawEvent({ urls: '' })],
    ['with a member whose name is empty', rawEvent({ '': '' })],
    ['with a name longer than any field has', rawEvent({ ['x'.repeat(40)]: '' })],
    ['with a name in escapes', rawEventWith('"\\u0075rl":""')],
    ['with a field twice', rawEventWith('"url":"","url":""')],
    ['with the log twice', rawEventWith('"log":{}')],
    ['with a zone below zero', rawEvent({ shieldZoneId: -1 })],
    ['with a zone of minus zero', rawEvent().replace(':7', ':-0')],
    ['with a zone past int32', rawEvent({ shieldZoneId: 2 ** 31 })],
    ['with a zone far past int32', rawEvent().replace(':7', ':4294967303')],
    ['with a zone past int64', rawEvent().replace(':7', ':18446744073709551623')],
    ['with a zone that has a leading zero', rawEvent().replace(':7', ':07')],
    ['with a zone that is a fraction', rawEvent({ shieldZoneId: 1.5 })],
    ['with a zone that has an exponent', rawEvent().replace(':7', ':7e0')],
    ['with a zone that is a text', rawEvent({ shieldZoneId: '7' })],
    ['with a time that is a text', rawEvent({ timestamp: '2026-05-12T15:30:00Z' })],
    ['with a time of 16 digits', rawEvent({ timestamp: NOW * 1000 })],
    ['with a time that is a fraction', rawEvent({ timestamp: NOW + 0.5 })],
    ['more than 10 minutes ahead', rawEvent({ timestamp: NOW + 600_001 })],
    ['older than the retention', rawEvent({ timestamp: NOW - 72 * HOUR - 1 })],
    ['with an empty logId', rawEvent({ logId: '' })],
    ['with a logId that is too long', rawEvent({ logId: 'x'.repeat(513) })],
    ['with a logId that is a number', rawEvent({ logId: 5 })],
    ['with an asn that is a number', rawEvent({ asn: 5 })],
    ['with an asn of a digit and a letter', rawEvent({ asn: '5x' })],
    ['with an empty asn', rawEvent({ asn: '' })],
    ['with an asn that begins with AS', rawEvent({ asn: 'AS5' })],
    ['with an asn that has a leading zero', rawEvent({ asn: '05' })],
    ['with an asn of ten digits', rawEvent({ asn: '1234567890' })],
    ['with half a surrogate pair', rawEventWith('"url":"\\ud800"')],
    ['with a surrogate pair in escapes', rawEventWith('"url":"\\ud83d\\ude00"')],
    ['with an unknown escape', rawEventWith('"url":"\\x41"')],
    ['with an escape of three digits', rawEventWith('"url":"\\u041"')],
    ['with a control character in a text', rawEventWith('"url":"a\tb"')],
    ['with a NUL in a text', rawEventWith('"url":"\0"')],
    ['with a tab between two members', rawEvent().replace(',', ',\t')],
    ['with a newline between two members', rawEvent().replace(',', ',\n')],
    ['with a carriage return behind it', `${rawEvent()}\r`],
    ['with a byte order mark', `\ufeff${rawEvent()}`],
    ['with a NUL before it', `\0${rawEvent()}`],
    ['with a time that has a fraction of zero', rawEventWith(`"timestamp":${NOW}.0`)],
    ['with a time that has an exponent', rawEvent().replace(String(NOW), `${NOW / 1e12}e12`)],
    ['with a NUL behind it', `${rawEvent()}\0`],
    ['with another one behind it', `${rawEvent()}{}`],
    ['that is cut off', rawEvent().slice(0, -1)],
    ['with a comma too many', rawEvent().replace(/}$/, ',}')],
    ['with no comma', rawEvent().replace(',', ' ')],
    ['with no colon', rawEvent().replace(':', ' ')],
    ['with a bracket that closes nothing', rawEvent().replace(/}$/, ']')],
    ['64 levels deep in its log', nested(64)],
    ['64 levels deep in its log, of which one is not closed', nested(64).replace('}}', '}')],
    ['with a text that does not end', rawEvent().replace('"timestamp"', '"timestamp')],
    ['with a name that does not end', rawEvent().replace(/"log.*/, '"log')],
    ['that ends in an escape', `${rawEvent().slice(0, -1)},"url":"\\`],
    [
      'whose url and log repeat themselves a lot',
      rawEvent({ url: `${'a'.repeat(1000)}b${'a'.repeat(1000)}`, log: { a: 'a'.repeat(3000) } }),
    ],
    ['longer than the kernel takes', ofBytes(LONGEST_KERNEL_EVENT + 1)],
  ])('%s', (_what, event) => {
    expect(kernelConversion(Buffer.from(event))).toBeNull();
  });

  test.each([
    '{"a":[1,]}',
    '{"a":1,}',
    '{,}',
    '{"a":[,1]}',
    '{"a":[1}',
    '{"a":{]}',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":[1 2]}',
    '{"a":01}',
    '{"a":-}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":+1}',
    '{"a":NaN}',
    '{"a":truth}',
    '{"a":fals}',
    '{"a":nul}',
    '{"a":"}',
    '{"a":"\\"}',
    "{'a':1}",
    '{"a":/* */1}',
    '{1:1}',
  ])('with a log of %s', (log) => {
    const event = Buffer.from(withLog(log));
    expect(scannedConversion(event)).toBeNull();
    expect(kernelConversion(event)).toBeNull();
  });

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '256.0.0.1',
    '01.2.3.4',
    '1.2.3.04',
    '1.2.3.4 ',
    '0x7f.0.0.1',
    '1.2.3.4294967297',
    ':',
    ':1',
    '1:',
    ':::',
    '1:::2',
    '1::2::3',
    '::1::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8:',
    ':1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::8',
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '::ffff:1.2.3.4',
    'fe80::1%eth0',
    'localhost',
    '\\u0031.2.3.4',
  ])('from the ip "%s"', (ip) => {
    expect(kernelConversion(Buffer.from(withIp(ip)))).toBeNull();
  });

  test.each<[what: string, bytes: readonly number[]]>([
    ['a byte that begins nothing', [0xff]],
    ['a byte that continues nothing', [0x80]],
    ['a character that is cut off', [0xe2, 0x82]],
    ['two bytes for what needs one', [0xc1, 0xbf]],
    ['three bytes for what needs two', [0xe0, 0x9f, 0xbf]],
    ['four bytes for what needs three', [0xf0, 0x8f, 0xbf, 0xbf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['what is past the last character', [0xf4, 0x90, 0x80, 0x80]],
    ['a first byte past the last', [0xf5, 0x80, 0x80, 0x80]],
    ['a first byte of five', [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ['a third byte that is none', [0xe2, 0x82, 0x41]],
    ['a fourth byte that is none', [0xf0, 0x9f, 0x98, 0x41]],
  ])('with %s in a text, which is no UTF-8', (_what, bytes) => {
    const event = Buffer.from(rawEvent({ url: '@@@@@'.slice(0, bytes.length) }));
    event.set(bytes, event.indexOf('@'));
    expect(scannedConversion(event)).not.toBeNull();
    expect(kernelConversion(event)).toBeNull();
  });
});

test('a text without an end is not taken to end where one of the event before did', () => {
  for (let length = 0; length < 130; length++) {
    const event = rawEvent({ ua: 'x'.repeat(length), url: 'x' });
    expect(kernelConversion(Buffer.from(event))).not.toBeNull();
    expect(kernelConversion(Buffer.from(event.replace(/"}$/, 'x}')))).toBeNull();
  }
});

test('every event with a text that is longer than what is stored of one', () => {
  expect(LONGEST_KERNEL_EVENT).toBeLessThanOrEqual(STORED_TEXT_BYTES);
});

import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { hecEvent } from '../../../src/sinks/hec-sink.ts';
import { refusedAnswer, retryAfterMs } from '../../../src/sinks/http-exchange.ts';
import { linesOf } from '../../../src/sinks/sink.ts';
import { syslogFrame } from '../../../src/sinks/syslog-sink.ts';
import { SAMPLE_TIME } from './sample-events.ts';

const NOW = Date.UTC(2026, 10, 21, 14, 0, 0);

describe('a Retry-After', () => {
  test.each([
    ['of seconds', '120', 120_000],
    ['of no time', '0', 0],
    ['with blanks around it', ' 7 ', 7_000],
    ['that is a date', 'Sat, 21 Nov 2026 14:00:30 GMT', 30_000],
    ['that is a date of RFC 850', 'Saturday, 21-Nov-26 14:00:30 GMT', 30_000],
    ['that is a date of asctime', 'Sat Nov 21 14:00:30 2026', 30_000],
    ['that is a date of asctime, of a day with one digit', 'Tue Dec  1 14:00:30 2026', 3_600_000],
    ['that is a date of the past', 'Sat, 21 Nov 2026 13:00:30 GMT', 0],
    ['of more than an hour is an hour', '999999', 3_600_000],
    ['of more seconds than a number holds is an hour', '9'.repeat(400), 3_600_000],
    ['of a fraction is ignored', '1.5', null],
    ['below zero is ignored', '-5', null],
    ['with a sign is ignored', '+5', null],
    ['of hexadecimal digits is ignored', '0x10', null],
    ['of an exponent is ignored', '1e3', null],
    ['of two values is ignored', '5, 7', null],
    ['that is a date of another form is ignored', '2026-11-21T14:00:30Z', null],
    ['that is a date of another zone is ignored', 'Sat, 21 Nov 2026 14:00:30 +0200', null],
    ['that is a day that no month has is ignored', 'Sat, 99 Nov 2026 14:00:30 GMT', null],
    ['that is a word is ignored', 'soon', null],
    ['that is empty is ignored', '', null],
    ['that is not there', undefined, null],
  ])('%s', (_what, header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });
});

describe('an answer that is no 2xx', () => {
  const refused = (status: number, headers: IncomingHttpHeaders, body = '') =>
    refusedAnswer('POST https://siem.example/in', { status, headers, body: Buffer.from(body) }, NOW).message;

  test.each([
    [307, { location: 'https://other.example/in' }, '', ' answered 307, with Location https://other.example/in'],
    [301, { location: '/v2/in' }, 'Moved', ' answered 301, with Location /v2/in: Moved'],
    [302, { location: 'https://sso.example/login?token=secret#part' }, '', ' answered 302, with Location https://sso.example/login'],
    [308, { location: 'https://user:secret@other.example/in' }, '', ' answered 308, with Location https://other.example/in'],
    [307, {}, '', ' answered 307'],
    [307, { location: '' }, '', ' answered 307'],
    [201, { location: '/in/7' }, '', ' answered 201'],
    [404, { location: '/v2/in' }, '', ' answered 404'],
  ])('%i with %j %j is named so', (status, headers, body, words) => {
    expect(refused(status, headers, body)).toBe(`POST https://siem.example/in${words}`);
  });

  test('has at most the beginning of a long Location', () => {
    expect(refused(307, { location: `https://other.example/${'x'.repeat(10_000)}` }).length).toBeLessThan(700);
  });
});

test('lines come without their ends', () => {
  expect(Array.from(linesOf(Buffer.from('a\n\nbb\n')), String)).toEqual(['a', '', 'bb']);
});

describe('a syslog message', () => {
  const header = {
    facility: 'local0',
    severity: 'info',
    hostname: 'host',
    appName: 'shieldlog',
    processId: '1',
    messageId: 'native',
  } as const;

  test('has its length in bytes before it, its priority, and its time in UTC', () => {
    expect(syslogFrame(header, SAMPLE_TIME, 'ä').toString()).toBe('60 <134>1 2026-05-12T15:30:00.042Z host shieldlog 1 native - ä');
  });

  test.each([[null], [8_640_000_000_000_000], [-8_640_000_000_000_000]])('has no time where it cannot be written: %j', (timeMs) => {
    expect(syslogFrame(header, timeMs, 'x').toString()).toContain('<134>1 - host');
  });
});

describe("an event of Splunk's", () => {
  const fields = { source: 's', sourcetype: 't', index: null, host: null };

  test('is the line itself, byte for byte, with its time in seconds', () => {
    const line = '{"timestamp":1778599800042,"n":12345678901234567890}';
    expect(hecEvent('native', fields, line)).toBe(`{"time":1778599800.042,"source":"s","sourcetype":"t","event":${line}}`);
  });

  test('is a text where the line is one', () => {
    expect(JSON.parse(hecEvent('cef', { ...fields, index: 'i' }, 'CEF:0|"a"'))).toEqual({
      ...fields,
      index: 'i',
      host: undefined,
      event: 'CEF:0|"a"',
    });
  });
});

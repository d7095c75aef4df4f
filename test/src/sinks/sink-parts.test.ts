import { describe, expect, test } from 'vitest';
import { hecEvent } from '../../../src/sinks/hec-sink.ts';
import { retryAfterMs } from '../../../src/sinks/http-exchange.ts';
import { linesOf } from '../../../src/sinks/sink.ts';
import { syslogFrame } from '../../../src/sinks/syslog-sink.ts';
import { SAMPLE_TIME } from './sample-events.ts';

const NOW = Date.UTC(2026, 10, 21, 14, 0, 0);

describe('a Retry-After', () => {
  test.each([
    ['of seconds', '120', 120_000],
    ['of no time', '0', 0],
    ['that is a date', 'Sat, 21 Nov 2026 14:00:30 GMT', 30_000],
    ['that is a date of the past', 'Sat, 21 Nov 2026 13:00:30 GMT', 0],
    ['of more than an hour is an hour', '999999', 3_600_000],
    ['that is neither', 'soon', null],
    ['that is not there', undefined, null],
  ])('%s', (_what, header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
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

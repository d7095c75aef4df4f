import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { terminalLog } from '../../src/terminal-log.ts';

/** What a terminal shows of one call to the logger. */
function shown(write: (logger: ReturnType<typeof pino>) => void): string {
  let text = '';
  const terminal = { write: (line: string) => (text += line) };
  write(pino({ level: 'trace', base: null, timestamp: () => ',"time":1767323045000' }, terminalLog(terminal)));
  return text;
}

describe('the log on a terminal', () => {
  test.each([
    ['a message', () => shown((log) => log.info('hello')), '03:04:05 info  hello\n'],
    ['its details', () => shown((log) => log.warn({ a: 1, b: 'two', c: ['x'] }, 'oh')), '03:04:05 warn  oh a=1 b=two c=["x"]\n'],
    ['a level', () => shown((log) => log.fatal('end')), '03:04:05 FATAL end\n'],
  ])('shows %s', (_what, act, line) => {
    expect(act()).toBe(line);
  });

  test('shows an error with where it was thrown', () => {
    const text = shown((log) => log.error({ err: new Error('broken') }, 'failed'));
    expect(text).toMatch(/^03:04:05 ERROR failed\nError: broken\n {4}at .*terminal-log\.test\.ts/);
  });
});

import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { LARGEST_REST_BYTES } from '../../../ingest/event/event-verdict.ts';
import { loadedEvents } from './loaded-events.ts';
import { NOW, RULES, rawEvent, rawEventWith } from './raw-events.ts';

const basic = { logId: 'a', shieldZoneId: 7, timestamp: BigInt(NOW), log: {} };

/** What becomes of an event from each source, the same behind so many others that the kernel is there. */
function taken(event: string) {
  const builder = new BatchBuilder(RULES);
  const bytes = Buffer.from(event);
  const adds = [
    () => builder.addEvent('http', bytes),
    () => builder.addEvent('file', bytes),
    () => builder.tryKafkaMessage('events', 0, 0n, bytes),
    () => builder.tryMessageAt({ topic: 'events', partition: 0, offset: 0n }, 1, bytes),
  ];
  for (const add of Array(6).fill(adds).flat()) {
    expect(add()).toEqual({ kind: 'accepted' });
  }
  const [loaded, ...others] = loadedEvents(builder.take());
  for (const other of others) expect(other).toEqual(loaded);
  return loaded;
}

const FIELDS = ['feature', 'ruleId', 'ruleName', 'ja4', 'country', 'action', 'logId'];
const NUMBERS = ['942100', '0', '-1', '-0', '1.0', '1', '1.50', '1e5', '1E-7', '123456789012345678901234567890'];

describe.each(FIELDS)('a number in %s', (name) => {
  test.each(NUMBERS)('is its digits as they stand: %s', (digits) => {
    expect(taken(rawEventWith(`"${name}":${digits}`))).toEqual({ ...basic, [name]: digits });
  });

  test('stays a number in a log that is the whole event', () => {
    const event = `{"shieldZoneId":7,"timestamp":${NOW},"logId":"a","${name}":942100}`;
    expect(taken(event)).toEqual({ ...basic, [name]: '942100', log: JSON.parse(event) });
  });
});

test('all fields are numbers at once, and the log that repeats them is the same', () => {
  const numbers = Object.fromEntries(FIELDS.map((name, index) => [name, 9_421_000_000 + index]));
  const texts = Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, String(number)]));
  const log = { ...numbers, texts };
  expect(taken(rawEvent({ ...numbers, log }))).toEqual({ ...basic, ...texts, log });
});

test('a number of more than 64 KiB is cut as a text is, and the log has all of it', () => {
  const digits = '1'.repeat(65_537);
  const builder = new BatchBuilder(RULES);
  expect(builder.addEvent('http', Buffer.from(rawEventWith(`"ruleId":${digits}`)))).toEqual({ kind: 'accepted', cutTexts: 1 });
  expect(loadedEvents(builder.take())).toMatchObject([{ ruleId: digits.slice(1) }]);
});

test('the quotes that the feed writes around numbers count in the longest rest of an event', () => {
  const numbers = Object.fromEntries(FIELDS.map((name) => [name, 1]));
  // The log keeps its own, so that the long text is beside it alone.
  const log = { ua: 1 };
  const beside = rawEvent({ ...numbers, log, ua: '' }).length - JSON.stringify(log).length + 2 * FIELDS.length;
  const padded = (extra: number) => rawEvent({ ...numbers, log, ua: 'x'.repeat(LARGEST_REST_BYTES - beside + extra) });
  const verdictOf = (event: string) => new BatchBuilder(RULES).addEvent('http', Buffer.from(event));
  expect(verdictOf(padded(0))).toEqual({ kind: 'accepted', cutTexts: 1 });
  expect(verdictOf(padded(1))).toMatchObject({
    kind: 'rejected',
    reason: expect.stringContaining(`${LARGEST_REST_BYTES + 1} bytes beside`),
  });
});

describe('a text of digits is a number', () => {
  test.each([
    ['"70"', 70],
    ['"0070"', 70],
    ['"0"', 0],
    ['"2147483647"', 2_147_483_647],
    ['"\\u0037"', 7],
  ])('in shieldZoneId: %s', (written, shieldZoneId) => {
    expect(taken(rawEvent().replace('"shieldZoneId":7', `"shieldZoneId":${written}`))).toEqual({ ...basic, shieldZoneId });
  });

  test.each([`"${NOW}"`, `"000${NOW}"`, `"\\u0031${String(NOW).slice(1)}"`])('in timestamp: %s', (written) => {
    expect(taken(rawEvent().replace(`"timestamp":${NOW}`, `"timestamp":${written}`))).toEqual(basic);
  });

  test('in timestamp, of a time past the retention, which has expired', () => {
    const verdict = new BatchBuilder(RULES).addEvent('http', Buffer.from(rawEvent({ timestamp: String(NOW - 73 * 3_600_000) })));
    expect(verdict).toEqual({ kind: 'expired' });
  });
});

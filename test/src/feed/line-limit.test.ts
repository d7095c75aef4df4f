import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineLimit, MIN_LINE_BYTES } from '../../../src/feed/line-limit.ts';
import { FEED_FORMAT_NAMES, FEED_FORMATS } from '../../../src/formats/feed-formats.ts';
import type { FeedLine } from '../../../store/event-store.ts';
import { readEvent } from '../../../store/feed-event.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { CORPUS, feedEvent } from '../formats/feed-events.ts';

/** An event between other bytes, as a store gives it. */
function lineOf(json: string): FeedLine {
  const bytes = Buffer.from(`before ${json} behind`);
  return { sequence: 7n, ingestedAtMs: 1_767_228_000_500, bytes, start: 7, end: bytes.length - 7 };
}

const jsonOf = ({ bytes, start, end }: FeedLine): string => bytes.toString('utf8', start, end);

const LOG_KEY = ',"log":';

/** The event with the size of its log in place of its log, made anew from its JSON. */
function withoutLog(json: string): string {
  const begin = json.indexOf(LOG_KEY) + LOG_KEY.length;
  return `${json.slice(0, begin)}{"shortenedBytes":${Buffer.byteLength(json.slice(begin, -1))}}}`;
}

test.each([
  ['{"logId":"a","shieldZoneId":7,"timestamp":1,"log":{"Message":"ä€𝄞"}}', 23],
  ['{"logId":"a","shieldZoneId":7,"timestamp":1,"ua":"\\",\\"log\\":{","log":{"log":{"a":[1,{}]}}}', 20],
  ['{"logId":"a","shieldZoneId":7,"timestamp":1,"log":{}}', 2],
])('%s has a log of %i bytes in its place', (json, size) => {
  const line = new LineLimit(10).stored(lineOf(json));
  expect(jsonOf(line)).toBe(withoutLog(json));
  expect(JSON.parse(jsonOf(line))).toEqual({ ...JSON.parse(json), log: { shortenedBytes: size } });
  expect([line.sequence, line.ingestedAtMs]).toEqual([7n, 1_767_228_000_500]);
});

test.each(FEED_FORMAT_NAMES)('%s: a line of just the limit is whole, and one of a byte more is shortened', (format) => {
  const event = feedEvent({ logId: 'a', fields: { ua: 'ä€𝄞' }, logJson: `{"Message":"${'ä'.repeat(600)}"}` });
  const line = lineOf(event.json);
  const writeEvent = FEED_FORMATS[format].createWriter();
  const whole = writeEvent(readEvent(line));
  const size = Buffer.byteLength(whole);
  const exact = new LineLimit(size);
  expect([exact.written(line, writeEvent), exact.counts]).toEqual([whole, { shortened: 0, tooLong: 0 }]);
  const short = new LineLimit(size - 1);
  const text = short.written(line, writeEvent);
  expect([text, short.counts]).toEqual([writeEvent(readEvent(lineOf(withoutLog(event.json)))), { shortened: 1, tooLong: 0 }]);
  expect(Buffer.byteLength(text)).toBeLessThan(size);
});

test('lines of any event are within the limit, or have no log and are counted, in every format', () => {
  const events = fc.constantFrom(...CORPUS.map(({ event }) => event.json));
  const limits = fc.integer({ min: MIN_LINE_BYTES, max: 6_000 });
  assertProperty(
    fc.property(fc.array(events, { maxLength: 20 }), limits, fc.constantFrom(...FEED_FORMAT_NAMES), (jsons, maxBytes, format) => {
      const writeEvent = FEED_FORMATS[format].createWriter();
      const limit = new LineLimit(maxBytes);
      const counts = { shortened: 0, tooLong: 0 };
      for (const json of jsons) {
        const whole = writeEvent(readEvent(lineOf(json)));
        const isLong = Buffer.byteLength(whole) > maxBytes;
        const expected = isLong ? writeEvent(readEvent(lineOf(withoutLog(json)))) : whole;
        if (isLong) counts.shortened += 1;
        if (Buffer.byteLength(expected) > maxBytes) counts.tooLong += 1;
        expect(format === 'native' ? jsonOf(limit.stored(lineOf(json))) : limit.written(lineOf(json), writeEvent)).toBe(expected);
      }
      expect(limit.counts).toEqual(counts);
    }),
  );
});

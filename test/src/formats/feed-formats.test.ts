import { describe, expect, test } from 'vitest';
import { eventTimeMs, FEED_FORMAT_NAMES } from '../../../src/formats/feed-formats.ts';
import { SAMPLE_TIME, sampleBatch } from '../sinks/sample-events.ts';

describe('the time of an event', () => {
  test.each(FEED_FORMAT_NAMES)('is read from a line in the format %s as the feed writes it', (format) => {
    const [line = ''] = sampleBatch(1, format).bytes.toString('utf8').split('\n');
    expect(eventTimeMs(format, line)).toBe(SAMPLE_TIME);
  });

  test.each([
    ['native', '{"timestamp":"never"}'],
    ['native', '{"timestamp":1e300}'],
    ['native', 'no JSON'],
    ['native', 'null'],
    ['cef', 'CEF:0|a|b|1|x|rule rt=5 |6|src=192.0.2.7'],
  ] as const)('is not known of the %s line %s', (format, line) => {
    expect(eventTimeMs(format, line)).toBeNull();
  });
});

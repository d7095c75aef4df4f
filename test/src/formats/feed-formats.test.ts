import { describe, expect, test } from 'vitest';
import { eventIdIn, eventTimeMs, FEED_FORMAT_NAMES, FEED_FORMATS } from '../../../src/formats/feed-formats.ts';
import { SAMPLE_TIME, sampleBatch } from '../sinks/sample-events.ts';
import { feedEvent } from './feed-events.ts';

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

describe('the id of an event', () => {
  const event = (logId: string) =>
    feedEvent({
      sequence: 1n,
      zoneId: -7,
      timestamp: SAMPLE_TIME,
      ingestedAtMs: SAMPLE_TIME,
      logId,
      fields: { ruleId: 'externalId=rule|\\', ruleName: ' externalId=name', action: 'blocked', ua: 'externalId=agent' },
      logJson: '{"Message":"externalId=message"}',
    });

  test.each([
    ['native', 'e7', 'e7'],
    ['ecs', 'e7', `-7:${SAMPLE_TIME}:e7`],
    ['ocsf', 'e7', `-7:${SAMPLE_TIME}:e7`],
    ['cef', 'e7', 'e7'],
    ['cef', 'a b c', 'a b c'],
    ['cef', 'a=b c=d', 'a\\=b c\\=d'],
    ['cef', 'a|b\\', 'a|b\\\\'],
    ['native', '日本 "7"', '日本 "7"'],
  ] as const)('in the format %s of %j is %j', (format, logId, id) => {
    expect(eventIdIn(format, FEED_FORMATS[format].createWriter()(event(logId)))).toBe(id);
  });

  test.each([
    ['native', 'no JSON'],
    ['native', '{"logId":7}'],
    ['ecs', '{"event":null}'],
    ['ocsf', '[]'],
    ['cef', 'CEF:0|a|b|1|x|rule externalId=7|6|src=192.0.2.7'],
    ['cef', 'CEF:0|a|b|1|x|rule|6|rt=1 src=192.0.2.7 externalId=7'],
  ] as const)('is not known of the %s line %s', (format, line) => {
    expect(eventIdIn(format, line)).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { FEED_FORMAT_NAMES, FEED_FORMATS, type FeedFormatName } from '../../../src/formats/feed-formats.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { cefFaults } from './cef-rules.ts';
import { ecsFaults } from './ecs-rules.ts';
import { CORPUS, feedEvent, STRANGE_VALUES } from './feed-events.ts';
import { ocsfFaults } from './ocsf-rules.ts';

/** Functions that return the faults of a line by the published rules of its format. */
const FAULTS: Readonly<Record<FeedFormatName, (line: string) => readonly string[]>> = {
  native: (line) => (Object.keys(JSON.parse(line)).length >= 4 ? [] : ['members are missing']),
  ecs: (line) => ecsFaults(JSON.parse(line)),
  ocsf: (line) => ocsfFaults(JSON.parse(line)),
  cef: cefFaults,
};

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.constantFrom(...HOSTILE_STRINGS.map(({ text }) => text)),
);
const anyField = (name: string) => {
  const strange = STRANGE_VALUES[name as keyof typeof STRANGE_VALUES] ?? ['x'];
  return fc.oneof(anyText, fc.constantFrom(...strange), fc.webUrl({ withQueryParameters: true }), fc.ipV4(), fc.ipV6());
};
const anyLog = fc.oneof(
  fc.json(),
  anyText,
  fc
    .record(
      {
        Message: fc.jsonValue(),
        RemoteIp: fc.oneof(fc.jsonValue(), fc.ipV4(), fc.ipV6()),
        Headers: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ Name: fc.oneof(fc.constantFrom('Host', 'referer'), anyText), Value: anyText })),
        ),
        TriggerMatch: fc.oneof(fc.jsonValue(), fc.record({ Key: anyText, Value: anyText }, { requiredKeys: [] })),
      },
      { requiredKeys: [] },
    )
    .map((log) => JSON.stringify(log)),
);
const anyEvent = fc.record({
  sequence: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  zoneId: fc.integer(),
  timestamp: fc.maxSafeInteger(),
  ingestedAtMs: fc.maxSafeInteger(),
  logId: anyText.filter((text) => text !== ''),
  fields: fc.record(Object.fromEntries(TEXT_FIELDS.map((name) => [name, anyField(name)])), { requiredKeys: [] }),
  logJson: anyLog.map((log) => log.replaceAll(/[\r\n]/g, ' ')),
});

describe.each(FEED_FORMAT_NAMES)('%s', (name) => {
  test('writes the whole corpus by the published rules, on one line each', () => {
    const writeEvent = FEED_FORMATS[name].createWriter();
    for (const { name: what, event } of CORPUS) {
      // A native line of a damaged log is as damaged as the log.
      if (name !== 'native' || what !== 'a log that is damaged') {
        const line = writeEvent(event);
        expect({ what, faults: FAULTS[name](line), lines: line.split(/[\r\n]/).length }).toEqual({ what, faults: [], lines: 1 });
      }
    }
  });

  test('writes any event at all, and the same event always the same', () => {
    const writeEvent = FEED_FORMATS[name].createWriter();
    assertProperty(
      fc.property(anyEvent.map(feedEvent), (event) => {
        const line = writeEvent(event);
        expect(line).not.toMatch(/[\r\n]/);
        expect(FEED_FORMATS[name].createWriter()(event)).toBe(line);
        if (name !== 'native') {
          expect(FAULTS[name](line)).toEqual([]);
        }
      }),
      { numRuns: 600 },
    );
  });

  test('loses no digit of the sequence and of the log', () => {
    const event = feedEvent({ sequence: 9_007_199_254_740_993n, logJson: '{"n":12345678901234567890.10}' });
    const line = FEED_FORMATS[name].createWriter()(event);
    if (name === 'ecs' || name === 'ocsf') {
      expect(line).toContain('"sequence":9007199254740993,');
    }
    if (name !== 'cef') {
      expect(line).toContain('12345678901234567890.10');
    }
  });
});

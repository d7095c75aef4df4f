import { expect, test } from 'vitest';
import { measuredOnThisMachine, type StoreMeasurement, scaleConstants } from '../../../bench/report/scale-constants.ts';

const CORES = 2;

/** Milliseconds of a search, by the formula of docs/scale.md. */
function searchMs(statementsMs: number, micros: number, zoneEvents: number): number {
  return statementsMs + (micros * zoneEvents) / (zoneEvents < 163_840 ? 1 : CORES) / 1000;
}

function measurement(events: number, more: Partial<StoreMeasurement> = {}): StoreMeasurement {
  const zoneEvents = events / 8;
  return {
    events,
    zoneEvents,
    intakePerSecond: events / 50,
    intake: { program: 8, server: 12.5, client: 11 },
    feed: { program: 12, server: 45 },
    bytes: 461,
    searches: new Map([
      ['01', searchMs(24, 0.11, zoneEvents)],
      ['08', searchMs(24, 0.62, zoneEvents)],
      ['11', searchMs(24, 0.36, zoneEvents)],
      ['13', searchMs(24, 0.22, zoneEvents)],
      ['14', searchMs(45, 0.28, zoneEvents)],
      ['18', 24],
    ]),
    ...more,
  };
}

test('constants are those by whose formulas the times come out', () => {
  const million = measurement(1_000_000, { feed: { program: 0, server: 0 } });
  const several = measurement(10_000_000, { intake: { program: 8, server: 17, client: 0 }, bytes: 0 });
  const constants = Object.fromEntries(
    [...scaleConstants(million, several, CORES)].map(([name, value]) => [name, Number(value.toFixed(6))]),
  );
  expect(constants).toEqual({
    program: 8,
    insert: 12.5,
    merge: 4.5,
    client: 11,
    bytes: 461,
    feedProgram: 12,
    feedServer: 45,
    oneStatement: 24,
    threeStatements: 45,
    page: 0.11,
    fewGroups: 0.22,
    manyGroups: 0.28,
    wildcard: 0.36,
    freeText: 0.62,
  });
});

test('what was measured is told by the names that the document has', () => {
  const told = measuredOnThisMachine(measurement(1_000_000), measurement(5_000_000));
  expect(told.get('intake of 5 million events, events/s')).toBe(100_000);
  expect(told.get('free text, 1 million, ms')).toBe(searchMs(24, 0.62, 125_000));
  expect([...told.keys()]).toHaveLength(12);
});

test('a run of other searches has no constants', () => {
  const million = measurement(1_000_000, { searches: new Map([['01', 30]]) });
  expect(() => scaleConstants(million, million, CORES)).toThrow('the workload 18 was not measured');
});

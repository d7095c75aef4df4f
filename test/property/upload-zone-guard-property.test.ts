import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { IntakeError } from '../../ingest/upload/intake-report.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import type { Caller } from '../../src/auth/access.ts';
import { uploadZoneGuard } from '../../src/auth/upload-zone-guard.ts';
import { RequestProblem } from '../../src/http/problem.ts';
import type { EventStore } from '../../store/event-store.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { HOUR, NOW, RULES } from '../ingest/event/raw-events.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { damage, damaged } from './damaged-bytes.ts';

/** A key of zone 1. */
const CALLER: Caller = {
  keyName: 'one',
  opensZone: (zone) => zone === 1,
  opensEveryZone: false,
  zones: new Set([1]),
  hasScope: () => true,
  mapping: null,
};
const LATER = { ...RULES, now: () => NOW + 2 * HOUR };

/** Texts before an event: byte order marks, blanks, and texts that only look like them. */
const prefix = fc.constantFrom(
  '',
  '',
  '',
  '\ufeff',
  '\ufeff\ufeff',
  ' \ufeff',
  '\ufeff ',
  '\t',
  '\u00a0',
  '\0',
  '\u2028',
  '\u200b',
  '{}',
  '//\n',
);
const zoneName = fc.constantFrom(
  '"shieldZoneId"',
  '"shieldZoneId"',
  '"shieldZone\\u0049d"',
  '"\\u0073hieldZoneId"',
  '"ShieldZoneId"',
  '"shieldZoneId "',
);
const zone = fc.constantFrom('1', '1', '1', '1', '2', '2.0', '2e0', '-2', '02', '"2"', '[2]', '4294967298', 'null');
const zoneMember = fc.tuple(zoneName, zone).map(([name, value]) => `${name}:${value}`);
/** Good, in the future, which makes a letter that is an event later, and wrong. */
const time = fc.constantFrom(`${NOW - 1000}`, `${NOW + 608_000}`, `${NOW + 608_000}`, '"now"');
const event = fc
  .tuple(
    prefix,
    fc.array(zoneMember, { maxLength: 3 }),
    time,
    fc.boolean(),
    fc.nat(1_000_000),
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(damage, { minLength: 1, maxLength: 2 }) }),
  )
  .map(([before, zones, timestamp, timeFirst, id, damages]) => {
    const members = [`"timestamp":${timestamp}`, ...zones, `"logId":"${id}"`];
    const text = `${before}{${(timeFirst ? members : members.toReversed()).join(',')}}`;
    return damages.reduce(damaged, Buffer.from(text));
  });
/** Twenty good events before it bring the compiled kernel in. */
const body = fc
  .tuple(fc.constantFrom(0, 25), fc.array(event, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([good, events, asArray]) => {
    const usual = Array.from({ length: good }, (_, index) =>
      Buffer.from(`{"shieldZoneId":1,"timestamp":${NOW - 1000},"logId":"g${index}"}`),
    );
    const parts = [...usual, ...events].flatMap((bytes, index) => (index === 0 ? [bytes] : [Buffer.from(asArray ? ',' : '\n'), bytes]));
    return Buffer.concat(asArray ? [Buffer.from('['), ...parts, Buffer.from(']')] : parts);
  });

async function zonesStored(store: EventStore): Promise<readonly number[]> {
  const zones = [];
  const window = { fromMs: NOW - 2 * HOUR, toMs: NOW + 3 * HOUR };
  for (const zoneId of [2, -2]) {
    const { total } = await store.search({
      zones: [zoneId],
      window,
      where: { kind: 'everything' },
      page: { index: 0, size: 1 },
      output: { kind: 'rows' },
    });
    if (total > 0) zones.push(zoneId);
  }
  return zones;
}

test('whatever the bytes are, a key of one zone puts no event into another, nor does a dead letter replayed later', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const runs = { refused: 0, replayed: 0 };
  const guard = uploadZoneGuard(CALLER);
  if (guard === undefined) throw new Error('a key of one zone has a guard');
  await assertAsyncProperty(
    fc.asyncProperty(body, async (bytes) => {
      try {
        await takeInEvents(Readable.from([bytes]), { ...RULES, store, source: 'http', admit: guard });
      } catch (error) {
        // Damaged bytes may be no list of events at all; what came before is stored nevertheless.
        if (error instanceof RequestProblem) {
          expect(error.errorKey).toBe('access.zone_denied');
          runs.refused += 1;
        } else if (!(error instanceof IntakeError)) throw error;
      }
      runs.replayed += (await replayDeadLetters(store, { ...LATER, threads: new MappingThreads(new Map()), zones: 'all' })).replayed;
      await store.removeDeadLetters({ zones: 'all', limit: 1_000 });
      expect(await zonesStored(store)).toEqual([]);
    }),
    // Some 6 of 100 runs are refused, and as many replay: of fewer runs the numbers below would now and then not be reached by chance.
    { numRuns: propertyRuns(300) },
  );
  // Otherwise the guard or the replay had nothing to do.
  expect(runs.refused).toBeGreaterThan(5);
  expect(runs.replayed).toBeGreaterThan(5);
});

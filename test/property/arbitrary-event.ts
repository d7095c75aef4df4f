import fc from 'fast-check';
import { LONGEST_LOG_ID_BYTES } from '../../ingest/event/log-id.ts';
import type { RawEvent } from '../oracle/raw-event.ts';
import { anyText, hostileText, USUAL_TEXTS } from './value-pools.ts';

const MINUTE_MS = 60_000;

/** How long ago the events are: they gather in a few hours, of which some are neighbours. */
const MINUTES_AGO = [0, 1, 59, 61, 130, 420, 425, 800, 1_500, 2_900, 4_300];

export const ZONES = [1, 2, -2_147_483_648, 2_147_483_647];

/** Often the same millisecond, so that ties are common; the boundary of an hour is among them. */
function timestamps(nowMs: number): fc.Arbitrary<number | string> {
  const exact = fc
    .tuple(fc.constantFrom(...MINUTES_AGO), fc.oneof(fc.constantFrom(0, 1, 500), fc.nat({ max: 40 * MINUTE_MS })))
    .map(([minutes, extra]) => Math.max(nowMs - minutes * MINUTE_MS - extra, nowMs - 72 * 60 * MINUTE_MS + MINUTE_MS));
  const onTheHour = fc.integer({ min: 0, max: 60 }).map((hours) => Math.floor(nowMs / 3_600_000 - hours) * 3_600_000);
  const time = fc.oneof({ arbitrary: exact, weight: 8 }, { arbitrary: onTheHour, weight: 1 });
  return fc.oneof(
    { arbitrary: time, weight: 9 },
    { arbitrary: time.map((ms) => new Date(ms).toISOString()), weight: 1 },
    { arbitrary: time.map(String), weight: 1 },
  );
}

function usualOrHostile(name: string): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...(USUAL_TEXTS[name] ?? [])), weight: 12 },
    { arbitrary: hostileText, weight: 2 },
    { arbitrary: anyText, weight: 1 },
    // An empty text is a value, which must not be taken for a missing one.
    { arbitrary: fc.constant(''), weight: 1 },
  );
}

/** Some senders write numbers where they have no other texts. */
const orNumber = (texts: fc.Arbitrary<string>): fc.Arbitrary<string | number> =>
  fc.oneof({ arbitrary: texts, weight: 9 }, { arbitrary: fc.constantFrom(942_100, 0, -1, 1.5, 1e21), weight: 1 });

const address = fc.oneof(
  { arbitrary: usualOrHostile('ip'), weight: 3 },
  { arbitrary: fc.ipV4(), weight: 1 },
  { arbitrary: fc.ipV6(), weight: 1 },
);

const asn = fc.constantFrom<string | number>(13335, '13335', 'AS13335', 16509, 'AS16509', 7, '0', 4_294_967_295, '');

const logObject = fc.dictionary(
  fc.oneof(fc.constantFrom('Url', 'Message', 'Headers', 'extra', 'ip'), anyText),
  fc.jsonValue({ maxDepth: 2 }),
  {
    maxKeys: 4,
  },
);

const isLogId = (text: string): boolean => text !== '' && Buffer.byteLength(text) <= LONGEST_LOG_ID_BYTES;

/** One event as a producer may send it. Its fields share few values, its times few hours, and now and then it is a duplicate's twin. */
export function arbitraryEvent(nowMs: number): fc.Arbitrary<RawEvent> {
  return fc.record(
    {
      logId: fc.oneof(
        { arbitrary: fc.uuid(), weight: 8 },
        { arbitrary: fc.nat({ max: 30 }).map((number) => `id-${number}`), weight: 2 },
        { arbitrary: fc.oneof(hostileText, anyText).filter(isLogId), weight: 1 },
      ),
      shieldZoneId: fc.oneof(
        { arbitrary: fc.constant(1), weight: 6 },
        { arbitrary: fc.constantFrom<string | number>(...ZONES, '1', '002'), weight: 1 },
      ),
      timestamp: timestamps(nowMs),
      feature: orNumber(usualOrHostile('feature')),
      ruleId: orNumber(usualOrHostile('ruleId')),
      ruleName: orNumber(usualOrHostile('ruleName')),
      ip: address,
      ja4: orNumber(usualOrHostile('ja4')),
      ua: usualOrHostile('ua'),
      url: usualOrHostile('url'),
      asn,
      country: orNumber(usualOrHostile('country')),
      action: orNumber(usualOrHostile('action')),
      log: logObject,
      extra: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: ['logId', 'shieldZoneId', 'timestamp'] },
  );
}

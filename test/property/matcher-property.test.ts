import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import { compileConditions, compileExport } from '../../query/request/compile-search.ts';
import { HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { storeRuns, type TestStore } from '../fixtures/test-store.ts';
import type { OracleFilter } from '../oracle/match-event.ts';
import { type OracleEvent, oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { matchingEvents } from '../oracle/search-oracle.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type FedEvent, wholeFeed } from '../store/embedded/feed/whole-feed.ts';
import { arbitraryRequest } from './arbitrary-request.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const PROPERTY = 'matcher';
const DATA_SETS = storeRuns(2);
const EVENTS = 450;
const REQUESTS = propertyRuns(storeRuns(60));
const WILDCARDS = propertyRuns(storeRuns(32));
const ZONE = 1;
/** Less than a page of the search, so that one answer has every event that matches. */
const MAX_ROWS = 500;

const [FROM, TO] = [NOW_MS - 72 * 3_600_000 - 60_000, NOW_MS + 60_000];

/** Random events of one zone, and texts that have broken search engines, each in every column. */
function rawEvents(dataSeed: number): readonly RawEvent[] {
  const random = generateRawEvents(dataSeed, EVENTS - HOSTILE_STRINGS.length - LONG.length).map((event) => ({
    ...event,
    shieldZoneId: ZONE,
  }));
  const hostile = HOSTILE_STRINGS.map(({ text }, index) => {
    const columns = { feature: text, ruleId: text, ruleName: text, ip: text, ja4: text, ua: text, url: text, country: text, action: text };
    return { logId: `hostile-${index}`, shieldZoneId: ZONE, timestamp: NOW_MS - index, ...columns, log: {} };
  });
  return [...random, ...hostile, ...LONG];
}

/** Texts around the length that is stored of one, in letters of every length, each in every column. */
const LONG: readonly RawEvent[] = ['x', 'É', '€', '🦆'].flatMap((letter, index) => {
  const letters = Math.ceil(65_536 / Buffer.byteLength(letter));
  return [0, 1, 2].map((more) => {
    const text = `${'a'.repeat(index)}${letter.repeat(letters + more)}`;
    const columns = { feature: text, ruleId: text, ruleName: text, ip: text, ja4: text, ua: text, url: text, country: text, action: text };
    return { logId: `long-${index}-${more}`, shieldZoneId: ZONE, timestamp: NOW_MS - index, ...columns, log: {} };
  });
});

type Stored = {
  readonly store: TestStore;
  /** As a feed reads them. */
  readonly fed: readonly FedEvent[];
  /** As the oracle knows them. */
  readonly events: readonly OracleEvent[];
};

/** Half of the events are flushed, so that the SQL goes over segments too. */
async function withEvents(raw: readonly RawEvent[], work: (stored: Stored) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const store = await openStoreIn(folder);
    try {
      await appendEvents(store, raw.slice(0, EVENTS / 2));
      await store.settle('flush');
      await appendEvents(store, raw.slice(EVENTS / 2));
      await work({ store, fed: await wholeFeed(store, { zones: [ZONE], limit: EVENTS }), events: oracleEvents(raw) });
    } finally {
      await store.close();
    }
  });
}

interface Conditions {
  readonly query: string | null;
  readonly filters: readonly OracleFilter[] | null;
  readonly exclude: readonly OracleFilter[] | null;
}

const identity = ({ timestamp, logId }: { readonly timestamp: number; readonly logId: string }) => JSON.stringify([timestamp, logId]);

async function expectAgreement({ store, fed, events }: Stored, conditions: Conditions): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ from: FROM, to: TO, ...conditions }));
  const plan = compileExport(bytes, { zones: [ZONE], nowMs: NOW_MS });
  const searched = await store.search({ ...plan, page: { index: 0, size: MAX_ROWS } });
  const { matches } = compileMatcher(compileConditions(Buffer.from(JSON.stringify(conditions))));
  const matched = fed.filter(({ fields }) => matches(matchSubject(fields))).map(identity);
  expect(matched.sort()).toEqual((await rowsOf(searched)).map(identity).sort());
  // The oracle takes its wildcards from micromatch and its ranges from ipaddr.js, and shares no code with either.
  const expected = matchingEvents(events, { from: FROM, to: TO, ...conditions }, ZONE);
  expect(matched).toEqual(expected.map(identity).sort());
}

async function checkMatches(data: DataSet): Promise<void> {
  await withEvents(rawEvents(data.seed), async (stored) => {
    const requests = fc.tuple(arbitraryRequest(stored.events, NOW_MS), fc.option(arbitraryRequest(stored.events, NOW_MS), { freq: 2 }));
    const property = fc.asyncProperty(requests, async ([{ body }, excluding]) => {
      const { query = null, filters = null } = body;
      await expectAgreement(stored, { query, filters, exclude: excluding?.body.filters ?? null });
    });
    await assertAsyncProperty(property, { data, numRuns: REQUESTS });
  });
}

/** Letters that a LIKE, an escape, a glob or a regular expression takes for more than themselves, and those that could stand for them. */
const SPECIAL_LETTERS = [...'\0%_\\?[]^$.+|(){}!#~\'"', ...'PUNpun', '\n', '\uffff', '😀'];
/** Mostly one letter, so that a run fits everywhere, and what comes last decides. */
const letter = fc.oneof({ arbitrary: fc.constantFrom('a', 'A'), weight: 3 }, { arbitrary: fc.constantFrom(...SPECIAL_LETTERS), weight: 1 });
const repetitive = fc.tuple(fc.constantFrom('', 'a'.repeat(40)), fc.string({ unit: letter, maxLength: 12 })).map((parts) => parts.join(''));
const manyStars = fc
  .tuple(fc.constantFrom('', '*a'.repeat(9), '*a'.repeat(40), 'a*'.repeat(100)), fc.string({ unit: fc.oneof(letter, fc.constant('*')) }))
  .chain((parts) => fc.constantFrom(parts.join(''), parts.toReversed().join('')));

function repetitiveEvents(dataSeed: number): readonly RawEvent[] {
  const texts = fc.sample(repetitive, { seed: dataSeed, numRuns: EVENTS });
  return texts.map((text, index) => ({
    ...{ logId: `repetitive-${index}`, shieldZoneId: ZONE, timestamp: NOW_MS - index, log: {} },
    ...{ feature: text, url: `${text}?${text}`, ua: text },
  }));
}

async function checkWildcards(data: DataSet): Promise<void> {
  await withEvents(repetitiveEvents(data.seed), async (stored) => {
    const property = fc.asyncProperty(fc.constantFrom('feature', 'url', 'ua'), manyStars, async (field, pattern) => {
      await expectAgreement(stored, { query: null, filters: [{ field, op: 'wildcard', value: [pattern] }], exclude: null });
    });
    const last = (special: string): [string, string] => ['ua', `${'*a'.repeat(9)}*${special}`];
    await assertAsyncProperty(property, { data, part: 'wildcards', numRuns: WILDCARDS, examples: SPECIAL_LETTERS.map(last) });
  });
}

describe('the matcher, the SQL and the oracle agree, event by event', () => {
  test.each(dataSets(PROPERTY, DATA_SETS))(`on ${REQUESTS} random conditions over the events of seed $seed`, checkMatches);

  test.each(dataSets(`${PROPERTY}-wildcards`, 1))(
    `and end, on ${WILDCARDS} wildcards of many stars and special letters over repetitive texts of seed $seed`,
    checkWildcards,
  );
});

import { afterAll, beforeAll } from 'vitest';
import { CALLER_IDLE_MS } from '../../edge/leaving-callers.ts';
import { INT32 } from '../../query/integer-ranges.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { MAX_PER_ANSWER, REACH_HOURS, SEARCH_LIMITS, TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import { loadConfig } from '../../src/config/config.ts';
import { BODY_DEADLINE_MS, SEARCH_BODY_BYTES } from '../../src/http/request-body.ts';
import { FairQueue, MAX_WAITING_BYTES, MAX_WAITING_READS, SEATS } from '../../src/scheduling/fair-queue.ts';
import { MEBIBYTE, memoryShares } from '../../store/memory-shares.ts';
import { eventLine, ingest, type RunningApp, search, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf, refusalOf } from './limit-table.ts';

const NOW = Date.now();

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ now: () => NOW });
  await ingest(app, Array.from({ length: MAX_PER_ANSWER + 1 }, (_, index) => eventLine({ logId: `e${index}`, asn: index })).join(''));
});

afterAll(() => app.stop());

async function asked(rest: object): Promise<string> {
  return outcomeOf(await search(app, JSON.stringify({ from: NOW - 3_600_000, to: NOW, ...rest })));
}

const filter = (op: string, value: readonly string[]) => ({ field: 'url', op, value });
const times = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);

/** `most` of them a clause, as many clauses as it takes. */
function filters(op: string, all: readonly string[], most: number): object {
  const parts = Array.from({ length: Math.ceil(all.length / most) }, (_, part) => all.slice(part * most, (part + 1) * most));
  return { filters: parts.map((part) => filter(op, part)) };
}

/** So many bytes in texts of at most as many as one may have, of two bytes a letter but for the last of an odd number. */
function textsOf(size: number): string[] {
  const most = SEARCH_LIMITS.searchedTextBytes;
  const sizes = Array.from({ length: Math.ceil(size / most) }, (_, part) => Math.min(most, size - part * most));
  return sizes.map((each) => 'é'.repeat(each / 2) + 'x'.repeat(each % 2));
}

/** How many of them the answer has, where those that were asked for are more. */
async function countedIn(length: (body: ReturnType<typeof JSON.parse>) => number, most: number, rest: object): Promise<string> {
  const { body } = await search(app, JSON.stringify({ from: NOW - 3_600_000, to: NOW, ...rest }));
  return length(body) === most ? 'ok' : `taken as ${length(body)}`;
}

/** So many more requests of a caller than can run at a time; what the first refusal is. */
async function waitedFor(requests: number): Promise<string> {
  const queue = new FairQueue();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const read = { flow: 'a caller', isLight: false, bytes: 0, isRefusable: true, signal: new AbortController().signal };
  const all = Array.from({ length: SEATS + requests }, () => queue.run(read, () => released));
  release();
  return await refusalOf(() => Promise.all(all));
}

describeLimits('Search', import.meta.filename, {
  'bytes of the body': {
    is: bytes(SEARCH_BODY_BYTES),
    ask: async (size) => outcomeOf(await search(app, JSON.stringify({ from: NOW - 1_000, to: NOW }).padEnd(size))),
  },
  'arrival of the whole body': {
    is: milliseconds(BODY_DEADLINE_MS),
    elsewhere: 'a body that never arrives > ends %s with 408, and its connection',
  },
  'brackets and braces open at a time': {
    is: count(SEARCH_LIMITS.jsonDepth),
    // One that is no clause is another error: only the depth has no field.
    ask: async (depth) => {
      const nested = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
      const { status, text } = await search(app, `{"from":${NOW - 1_000},"to":${NOW},"filters":${nested}}`);
      return text.includes('must be JSON') ? outcomeOf({ status, text }) : 'ok';
    },
  },
  'values of the JSON body': {
    is: count(SEARCH_LIMITS.jsonValues),
    // The body, its window and the array are values, too.
    ask: async (values) => {
      const { status, text } = await search(app, `{"from":${NOW - 1_000},"to":${NOW},"filters":[${times(values - 4, '{}').join()}]}`);
      return text.includes('must be JSON') ? outcomeOf({ status, text }) : 'ok';
    },
  },
  filters: { is: count(SEARCH_LIMITS.clauses), ask: (size) => asked({ filters: times(size, filter('eq', ['x'])) }) },
  'values of one filter': { is: count(SEARCH_LIMITS.alternatives), ask: (size) => asked({ filters: [filter('in', times(size, 'x'))] }) },
  'values of all filters': {
    is: count(SEARCH_LIMITS.allAlternatives),
    ask: (size) => asked(filters('in', times(size, 'x'), SEARCH_LIMITS.alternatives)),
  },
  'words and phrases of `query` and values of `contains` and `wildcard`': {
    is: count(SEARCH_LIMITS.searchedTexts),
    ask: (size) => asked({ query: 'two words', filters: [filter('contains', ['x']), filter('wildcard', times(size - 3, 'x'))] }),
  },
  'bytes of one of these': {
    is: bytes(SEARCH_LIMITS.searchedTextBytes),
    ask: async (size) => {
      const text = textsOf(size).join('');
      const outcomes = [
        await asked({ query: `word "${text}"` }),
        await asked({ filters: [filter('contains', ['x', text])] }),
        await asked({ filters: [filter('wildcard', [text])] }),
      ];
      return [...new Set(outcomes)].join();
    },
  },
  'bytes of all of these': {
    is: bytes(SEARCH_LIMITS.allSearchedBytes),
    ask: (size) => {
      const [word = '', ...values] = textsOf(size);
      return asked({ query: word, ...filters('wildcard', values, 4) });
    },
  },
  'runs of stars in one wildcard': {
    is: count(SEARCH_LIMITS.starRuns),
    ask: (runs) => asked({ filters: [filter('wildcard', [times(runs, '*').join('a')])] }),
  },
  'UTF-16 units of `query`': { is: count(SEARCH_LIMITS.queryLength), ask: (size) => asked({ query: 'x'.padEnd(size) }) },
  'bytes of one value of `eq` or `in` that count': {
    is: bytes(STORED_TEXT_BYTES),
    ask: async (size) => {
      const { where } = compileSearch(
        Buffer.from(JSON.stringify({ from: NOW - 1, to: NOW, filters: [filter('in', ['x'.repeat(size)])] })),
        { zoneId: 7, nowMs: NOW },
      );
      const counted = where.kind === 'equals' ? Buffer.byteLength(where.values.join('')) : 0;
      return counted === size ? 'ok' : `taken as ${counted}`;
    },
  },
  '`from` before now': { is: milliseconds(REACH_HOURS * 3_600_000 + TOLERANCE_SECONDS * 1000), ask: (ms) => asked({ from: NOW - ms }) },
  '`to` after now': { is: milliseconds(TOLERANCE_SECONDS * 1000), ask: (ms) => asked({ to: NOW + ms }) },
  '`page`': { is: count(Number(INT32.max)), ask: (page) => asked({ page }) },
  '`pageSize`': {
    is: count(MAX_PER_ANSWER),
    ask: (pageSize) => countedIn(({ rows }) => rows.length, pageSize, { pageSize }),
  },
  '`buckets`': {
    is: count(MAX_PER_ANSWER),
    ask: (buckets) => countedIn(({ groups }) => groups[0].sparkline.length, buckets, { buckets, groupBy: ['asn'], pageSize: 1 }),
  },
  'errors that one answer lists': {
    is: count(SEARCH_LIMITS.listedErrors),
    ask: async (errors) => {
      const { body } = await search(app, JSON.stringify({ from: NOW - 1, to: NOW, filters: [filter('contains', times(errors, ''))] }));
      const listed = body.errors.filter(({ field }: { field: string }) => field !== '$').length;
      return listed === errors ? 'ok' : `taken as ${listed}`;
    },
  },
  'bytes of all answers of searches, and lists of dead letters, that are on their way': {
    is: bytes(memoryShares(loadConfig({}).memoryLimitMb).answersShareMb * MEBIBYTE),
    elsewhere: 'the first part of an answer > that does not fit is refused, a smaller one is given, and room comes back',
  },
  'time in which a caller takes nothing of an answer': {
    is: milliseconds(CALLER_IDLE_MS),
    elsewhere: 'an answer %s is cut off where its reader takes nothing, whatever route it is of',
  },
  'time in which a caller takes a whole answer': {
    is: milliseconds(loadConfig({}).exportDeadlineMs),
    elsewhere: 'an answer > is cut off at its deadline, although its reader reads',
  },
  'time in the store': {
    is: milliseconds(loadConfig({}).queryDeadlineMs),
    elsewhere: 'a search > past its deadline is interrupted and answered 503 with Retry-After: %s',
  },
  'requests of one caller that wait while others run': { is: count(MAX_WAITING_READS), ask: waitedFor },
  'bytes of the conditions of requests of one caller that wait': {
    is: bytes(MAX_WAITING_BYTES),
    elsewhere: 'waiting > reads whose conditions are long are refused earlier, but one of any length may wait',
  },
});

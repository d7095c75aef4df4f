import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { activeZonesOf, searchEvents } from '../../store/clickhouse/search/search.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { readJsonRows } from '../../store/clickhouse/server/json-rows.ts';
import { HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { EventTable } from './event-table.ts';

const KIB = 1024;
const RESULT_BYTES = 1024 * KIB;
/** So much of an answer counts for nothing. */
const SMALL = 256 * KIB;

let table: EventTable;
beforeAll(async () => {
  table = await EventTable.open();
});
afterAll(() => table.close());

/** A client of the table whose results may have a mebibyte together. */
function client(): ClickhouseClient {
  const { url } = table.reader;
  const limited = new ClickhouseClient(
    { urls: [url], user: 'default', password: '', database: table.reader.name },
    { resultBytes: RESULT_BYTES },
  );
  onTestFinished(() => limited.close());
  return limited;
}

const statement = (text: string) => ({ text, params: [] });
const repeated = (bytes: number) => `repeat(repeat('x', 1024), ${bytes / KIB})`;
const textOf = (bytes: number) => statement(`SELECT ${repeated(bytes)}`);
const TOO_LARGE = { name: 'AnswerTooLarge', code: 'overloaded' };

test.each([
  ['no rows', 'SELECT 1 WHERE false', 0],
  ['a text that just fits', textOf(RESULT_BYTES - KIB).text, 1],
  ['as many rows as fit', `SELECT 1 FROM numbers(${RESULT_BYTES / 128})`, RESULT_BYTES / 128],
])('a result is read: %s', async (_, text, rows) => {
  expect((await client().read(statement(text))).rows.length).toBe(rows);
});

test.each([
  ['a text that is too long', textOf(RESULT_BYTES + SMALL).text],
  ['too many rows', `SELECT 1 FROM numbers(${RESULT_BYTES / 64 + 1})`],
  ['rows of long texts', `SELECT repeat('x', 1000) FROM numbers(1500)`],
  ['a text whose JSON is six times as long', `SELECT repeat('\\x01', ${RESULT_BYTES / 4})`],
])('a result is refused, and the next one read: %s', async (_, text) => {
  const limited = client();
  await expect(limited.read(statement(text))).rejects.toMatchObject(TOO_LARGE);
  expect((await limited.read(textOf(RESULT_BYTES - KIB))).rows.length).toBe(1);
});

test('what is held leaves so much less for others, of which small ones are read all the same, until it is given back', async () => {
  const limited = client();
  const large = textOf(600 * KIB + SMALL);
  {
    using held = limited.holdResults();
    await limited.read(large, { held });
    await expect(limited.read(large)).rejects.toMatchObject(TOO_LARGE);
    await expect(limited.read(large, { held })).rejects.toMatchObject(TOO_LARGE);
    expect((await limited.read(textOf(SMALL - KIB))).rows.length).toBe(1);
  }
  expect((await limited.read(large)).rows.length).toBe(1);
});

test('a reader that says how much it takes counts with nobody', async () => {
  const limited = client();
  const bytes = statement(`${textOf(2 * RESULT_BYTES).text} FORMAT TSVRaw`);
  expect((await limited.readBytes(bytes, { maxBytes: 3 * RESULT_BYTES })).length).toBe(2 * RESULT_BYTES + 1);
  await expect(limited.readBytes(bytes, { maxBytes: RESULT_BYTES })).rejects.toMatchObject(TOO_LARGE);
  await expect(limited.readBytes(bytes)).rejects.toMatchObject(TOO_LARGE);
});

describe('an answer', () => {
  const FROM_MS = 1_790_000_000_000;
  const search: SearchPlan = {
    zones: 'all',
    window: { fromMs: FROM_MS, toMs: FROM_MS + 1_000 },
    where: { kind: 'everything' },
    page: { index: 0, size: 500 },
    output: { kind: 'rows' },
  };
  const groups = (by: 'country' | 'ua'): SearchPlan => ({ ...search, output: { kind: 'groups', by: [by], buckets: 0 } });
  const explore = (question: Partial<ExplorePlan>): ExplorePlan => {
    return { search: { ...search, page: { index: 0, size: 0 } }, histogram: null, facets: [], selection: null, ...question };
  };
  const facet = { field: 'ruleId', limit: 100, order: 'count' } as const;

  beforeAll(async () => {
    const long = (nth: number) => `${nth}`.padEnd(60_000, 'x');
    const event = (nth: number) => ({
      ...{ logId: `id-${nth}`, shieldZoneId: 1, timestamp: FROM_MS + nth, country: 'DE' },
      ...{ ua: long(nth), ruleId: long(nth) },
    });
    await table.insert(canonicalBatch(Array.from({ length: 40 }, (_, nth) => event(nth))));
  });

  const source = () => ({ ...table.source, client: client() });

  test.each([
    ['a page of groups with long keys', () => searchEvents(groups('ua'), source(), undefined)],
    ['a page of groups with a long context', () => searchEvents(groups('country'), source(), undefined)],
    ['a facet of long values', () => exploreEvents(explore({ facets: [facet] }), source(), undefined)],
    [
      'a facet and a page that fit apart',
      () =>
        exploreEvents(
          explore({ search: { ...groups('ua'), page: { index: 0, size: 10 } }, facets: [{ ...facet, limit: 10 }] }),
          source(),
          undefined,
        ),
    ],
  ])('%s is refused where it does not fit', async (_, ask) => {
    await expect(ask()).rejects.toMatchObject(TOO_LARGE);
  });

  test('with less of the same is given', async () => {
    const some = { ...groups('ua'), page: { index: 0, size: 10 } };
    const [page, explored, zones] = [
      await searchEvents(some, source(), undefined),
      await exploreEvents(explore({ facets: [{ ...facet, limit: 10 }] }), source(), undefined),
      await activeZonesOf(search.window, 'all', source(), undefined),
    ];
    expect(page).toMatchObject({ total: 40, groups: { length: 10 } });
    expect(explored.facets).toMatchObject([{ distinct: 40, values: { length: 10 } }]);
    expect(zones).toMatchObject([{ zoneId: 1, events: 40 }]);
  });
});

describe('the rows of an answer', () => {
  async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  const read = (bytes: Buffer, size: number) => readJsonRows(inPieces(bytes, size), () => undefined);
  const texts = HOSTILE_STRINGS.map(({ text }) => text).filter((text) => text.length < 100);
  const answered = (): Promise<Buffer> => {
    const rows = {
      text: 'SELECT arrayJoin({p1:Array(String)}) AS text, text FORMAT JSONCompact',
      params: [{ type: 'VARCHAR[]', value: texts }],
    } as const;
    return table.reader.client.readBytes(rows);
  };

  test('are the same whatever pieces it comes in', async () => {
    const bytes = await answered();
    for (const size of [1, 2, 3, 5, 7, 64, bytes.length]) {
      expect((await read(bytes, size)).rows).toEqual(texts.map((text) => [text, text]));
    }
  });

  test('are refused where any of its end is missing, or a row', async () => {
    const bytes = await answered();
    const end = bytes.lastIndexOf('}');
    for (let length = 0; length <= end; length += 1) {
      await expect(read(bytes.subarray(0, length), 4_096)).rejects.toThrow(SyntaxError);
    }
    const lines = bytes.toString().split('\n');
    const row = lines.findIndex((line) => line.startsWith('\t\t['));
    const without = lines.toSpliced(row, 1).join('\n');
    await expect(read(Buffer.from(without), 4_096)).rejects.toThrow(/an answer of \d+ rows has \d+/);
  });
});

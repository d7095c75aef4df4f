import { describe, expect, test } from 'vitest';
import type { ClickhouseStore } from '../../../store/clickhouse/clickhouse-store.ts';
import type { DeadLetter } from '../../../store/dead-letter.ts';
import type { StoreLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { event, rowsPlan } from '../../store/embedded/stored-events.ts';
import { clickhouseUrl, testDatabase } from '../engine.ts';
import { everythingIn, type SharedStore, sharedStore } from '../shared-store.ts';
import { type Conduct, Gateway, HONEST } from './gateway.ts';

const ORIGIN = { cut: null, reason: 'it ends', source: 'http', topic: null, partition: null, offset: null, zoneId: 7 };

const letter = (text: string): DeadLetter => ({ bytes: Buffer.from(text), ...ORIGIN });

const offset = (nextOffset: bigint) => ({ topic: 't', partition: 0, nextOffset });

/** Everything that a store asks ClickHouse for, by its kinds of statements. */
const STATEMENTS: Readonly<Record<string, (store: ClickhouseStore) => Promise<unknown>>> = {
  events: (store) => store.append(canonicalBatch([event('refused', NOW)])),
  offsets: (store) => store.append(canonicalBatch([], { sourceOffsets: [offset(99n)] })),
  letters: (store) => store.append(canonicalBatch([], { deadLetters: [letter('refused')] })),
  search: (store) => store.search(rowsPlan()),
  'a search of groups': (store) => store.search({ ...rowsPlan(), output: { kind: 'groups', by: ['country'], buckets: 0 } }),
  explorer: (store) => everythingIn(store),
  zones: (store) => store.activeZones({ fromMs: NOW - 1000, toMs: NOW + 1000 }, 'all'),
  rules: (store) => store.activeRules({ fromMs: NOW - 1000, toMs: NOW + 1000 }, 'all'),
  feed: async (store) => store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 10 }),
  'the look at running inserts': (store) => store.positions.newest(),
  'list of letters': (store) => store.listDeadLetters({ zones: 'all', limit: 10 }),
  'an offset': (store) => store.sourceOffset('t', 0),
  stats: (store) => store.stats(),
};

const WRITES = ['events', 'offsets', 'letters'];

const without = (header: string): Conduct => ({
  changes: ({ headers: { [header]: _, ...headers }, body }) => ({ headers, body }),
});

/** Changes the text of answers, which are JSON or the lines of the feed. */
const garbled = (change: (text: string) => string): Conduct => ({
  changes: ({ headers, body }) => ({ headers, body: Buffer.from(change(body.toString())) }),
});

/** Changes the rows of answers in JSON. */
const withRows = (change: (rows: readonly unknown[]) => readonly unknown[]): Conduct =>
  garbled((text) => {
    if (!text.startsWith('{')) return text;
    const { data, ...rest } = JSON.parse(text);
    return JSON.stringify({ ...rest, data: change(data) });
  });

const SUMMARY = { 'x-clickhouse-summary': '{"written_rows":"1000","read_rows":"1000","result_rows":"0"}' };

interface Case {
  readonly conduct: Conduct;
  /** The statements that cannot be believed then. Default: all. */
  readonly refused?: readonly string[];
  /** Statements that may be believed or not, because they read what is known for a while. */
  readonly either?: readonly string[];
}

/** What is stored asks for the time of the store first. */
const READS = { either: ['letters'] };

/** What answers in place of ClickHouse, or between ClickHouse and the program. */
const ANSWERS: Readonly<Record<string, Case>> = {
  'a web server that answers nothing': { conduct: { answers: () => ({ body: '' }) } },
  'a web server that answers HTML': { conduct: { answers: () => ({ body: '<!doctype html><title>Sign in</title>' }) } },
  'a web server with headers of its own': {
    conduct: { answers: () => ({ headers: { 'x-clickhouse-query-id': 'mine', ...SUMMARY }, body: '' }) },
  },
  'a gateway that answers what it has kept': {
    conduct: { changes: ({ headers, body }) => ({ headers: { ...headers, 'x-clickhouse-query-id': 'of-another-statement' }, body }) },
  },
  'a gateway that drops the number of the statement': { conduct: without('x-clickhouse-query-id') },
  'a gateway that drops the summary': { conduct: without('x-clickhouse-summary'), refused: [...WRITES, 'explorer', 'feed'] },
  'an answer that is cut': { conduct: garbled((text) => text.slice(0, text.length / 2)), ...READS },
  'an answer without its last line': { conduct: garbled((text) => text.replace(/[^\n]*\n$/, '')), ...READS },
  'an answer with numbers that are none': {
    conduct: garbled((text) => text.replace(/"\d+"/g, '"x"').replace(/^\d+\t/gm, 'x\t')),
    ...READS,
  },
  'an answer without its columns': { conduct: withRows((rows) => rows.map(() => [])), ...READS },
  'an answer without its rows': { conduct: withRows(() => []), ...READS },
  'an answer with HTML at its end': { conduct: garbled((text) => (text === '' ? text : `${text}<p>`)), ...READS },
  'a gateway that takes no data': {
    conduct: {
      changes: ({ headers, body }) => ({
        headers: { ...headers, 'x-clickhouse-summary': '{"written_rows":"0","read_rows":"0","result_rows":"0"}' },
        body,
      }),
    },
    refused: WRITES,
  },
};

/** The lines of a log. */
function told(): { readonly lines: string[]; readonly logger: StoreLogger } {
  const lines: string[] = [];
  const tell = (details: { readonly err?: Error }, message: string) => lines.push(`${message}: ${details.err?.message}`);
  return { lines, logger: { info: tell, warn: tell, error: tell } };
}

/** A store with an event, a letter and an offset, of which nothing may be lost. */
async function filled(shared: SharedStore, url: string, logger?: StoreLogger): Promise<ClickhouseStore> {
  const store = await shared.open(logger === undefined ? {} : { logger }, url);
  await store.append(
    canonicalBatch([event('a', NOW, { ruleId: 'r1', ruleName: 'one' })], { sourceOffsets: [offset(5n)], deadLetters: [letter('one')] }),
  );
  return store;
}

async function contentOf(store: ClickhouseStore) {
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
  const { exported, feed } = await everythingIn(store);
  return { exported, feed, letters: letters.map(({ bytes }) => bytes.toString()), offset: await store.sourceOffset('t', 0) };
}

const CONTENT = { exported: ['a'], feed: ['a'], letters: ['one'], offset: 5n };

/** The code of the error that each of the statements ends with, or that it was answered. */
async function outcomeOf(ask: (store: ClickhouseStore) => Promise<unknown>, store: ClickhouseStore): Promise<string> {
  return await ask(store).then(
    () => 'answered',
    (error) => error.code ?? error.message,
  );
}

describe.each(Object.entries(ANSWERS))('%s', (_, { conduct, refused = Object.keys(STATEMENTS), either = [] }) => {
  test('is believed nothing from one statement to the next, and nothing is lost or twice when it is sent again', async () => {
    const gateway = await Gateway.before(clickhouseUrl());
    const shared = await sharedStore();
    const store = await filled(shared, gateway.url);
    for (const [name, ask] of Object.entries(STATEMENTS)) {
      gateway.conduct = conduct;
      const outcome = await outcomeOf(ask, store);
      if (!either.includes(name)) expect([name, outcome]).toEqual([name, refused.includes(name) ? 'unavailable' : 'answered']);
      gateway.conduct = HONEST;
      // The server has told again what it is.
      await store.stats();
    }
    for (const write of WRITES) await STATEMENTS[write]?.(store);
    const { exported, feed, letters, offset: reached } = await contentOf(store);
    expect([exported.toSorted(), feed.toSorted(), letters, reached]).toEqual([['a', 'refused'], ['a', 'refused'], ['one', 'refused'], 99n]);
  });
});

/** What a server may be that becomes the one that is asked. */
const SERVERS: Readonly<Record<string, { readonly make: () => Promise<Conduct>; readonly told: RegExp }>> = {
  'with another store': {
    make: async () => {
      const other = await sharedStore();
      await (await other.open()).append(canonicalBatch([event('other', NOW)]));
      return { database: other.address.database };
    },
    told: /has another store \(\d+\) in CLICKHOUSE_DATABASE, and not that of this program \(\d+\)/,
  },
  'without the tables': {
    make: async () => ({ database: (await testDatabase()).name }),
    told: /has no store in CLICKHOUSE_DATABASE, and not that of this program/,
  },
  'without the database': {
    make: async () => ({ database: 'there_is_none' }),
    told: /are not there: Database there_is_none does not exist/,
  },
  'that is too old': {
    make: async () => ({
      changes: ({ headers, body }) => ({ headers, body: Buffer.from(body.toString().replace(/"26\.[\d.]+"/, '"26.6.1.1"')) }),
    }),
    told: /has version 26\.6\.1\.1; allowed: 26\.7 or later/,
  },
  'that is a web server': { make: async () => ({ answers: () => ({ body: '' }) }), told: /has no X-ClickHouse-Query-Id/ },
};

describe.each(Object.entries(SERVERS))('a server %s', (_, { make, told: why }) => {
  test('is asked nothing as a further one of CLICKHOUSE_URL, is told, and left once the first one is back', async () => {
    const [first, second] = [await Gateway.before(clickhouseUrl()), await Gateway.before(clickhouseUrl())];
    const { lines, logger } = told();
    const store = await filled(await sharedStore(), `${first.url},${second.url}`, logger);
    second.conduct = await make();
    const { port } = first;
    await first.goAway();
    for (const [name, ask] of Object.entries(STATEMENTS)) expect([name, await outcomeOf(ask, store)]).toEqual([name, 'unavailable']);
    expect(lines.filter((line) => line.startsWith('another server') && why.test(line))).toHaveLength(1);
    await first.comeBack(port);
    expect(await contentOf(store)).toEqual(CONTENT);
  });

  test('is asked nothing where it is there instead of the one that went away', async () => {
    const gateway = await Gateway.before(clickhouseUrl());
    const { lines, logger } = told();
    const store = await filled(await sharedStore(), gateway.url, logger);
    const { port } = gateway;
    await gateway.goAway();
    await expect(store.stats()).rejects.toMatchObject({ code: 'unavailable' });
    gateway.conduct = await make();
    await gateway.comeBack(port);
    for (const [name, ask] of Object.entries(STATEMENTS)) expect([name, await outcomeOf(ask, store)]).toEqual([name, 'unavailable']);
    await expect(store.stats()).rejects.toThrow(why);
    gateway.conduct = HONEST;
    expect(await contentOf(store)).toEqual(CONTENT);
    expect(lines.at(-1)).toMatch(/^ClickHouse can be asked again/);
  });
});

test.each(['another store', 'no store'])(
  'an INSERT names its store, so that one that comes to %s by itself stores nothing',
  async (what) => {
    const gateway = await Gateway.before(clickhouseUrl());
    const shared = await sharedStore();
    const store = await filled(shared, gateway.url);
    const other = await sharedStore();
    const there = await other.open();
    if (what === 'no store') await other.run('DROP TABLE store_identity');
    for (const [name, ask] of Object.entries(STATEMENTS).slice(0, WRITES.length)) {
      gateway.conduct = { database: other.address.database };
      expect([name, await outcomeOf(ask, store)]).toEqual([name, 'unavailable']);
      gateway.conduct = HONEST;
      await store.stats();
    }
    expect(await contentOf(there)).toEqual({ exported: [], feed: [], letters: [], offset: undefined });
    expect(await contentOf(store)).toEqual(CONTENT);
  },
);

test('a database that was made anew under a running program is told by its readiness, and nothing of it is read from then on', async () => {
  const gateway = await Gateway.before(clickhouseUrl());
  const store = await filled(await sharedStore(), gateway.url);
  const other = await sharedStore();
  await filled(other, clickhouseUrl());
  gateway.conduct = { database: other.address.database };
  const another = expect.stringMatching(/^ClickHouse has another store in CLICKHOUSE_DATABASE=/);
  await expect.poll(() => store.reasonsNotReady()).toEqual([another]);
  for (const [name, ask] of Object.entries(STATEMENTS)) expect([name, await outcomeOf(ask, store)]).toEqual([name, 'unavailable']);
});

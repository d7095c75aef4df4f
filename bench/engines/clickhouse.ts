import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { drainPending, Session } from 'chdb';
import fastify from 'fastify';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { searchJson } from '../../src/http/search-json.ts';
import { uncounted, wholeAnswer } from '../../test/fixtures/whole-answer.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';
import { pacedChunks } from '../events/file-chunks.ts';
import { exploreClickhouse } from './clickhouse-explore.ts';
import { type ClickhouseAnswer, findRows, searchClickhouse } from './clickhouse-search.ts';
import { COLUMNS, CREATE_TABLE, EXPERT_TABLE, TABLE } from './clickhouse-statements.ts';
import type { Engine, EngineOptions } from './engine.ts';

const SETTINGS = {
  use_query_cache: 0,
  // Answers have no quotes around integers and no escapes that JSON does not need.
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  input_format_json_read_objects_as_strings: 1,
};

/** About a second of events at the usual pace: ClickHouse prefers few large inserts, and events must be searchable soon. */
const INSERT_BYTES = 32 * 1024 * 1024;

/** Sessions for searches. Each runs one statement at a time. */
const READERS = 4;

/** Opens ClickHouse in this process, without a memory limit: its inserts fail within a gigabyte. */
export async function openClickhouse({ dataDir }: EngineOptions): Promise<Engine> {
  const writer = await connect(dataDir);
  const readers = await Promise.all(Array.from({ length: READERS }, () => connect(dataDir)));
  let turn = 0;
  const reader = () => {
    turn += 1;
    return readers[turn % READERS] as Session;
  };
  const run = async (statement: string, session = reader()) => (await session.queryAsync(statement, { format: 'JSONCompact' })).text();
  const ask = async (statement: string) => JSON.parse(await run(statement)) as ClickhouseAnswer;
  const number = async (statement: string) => Number((await ask(statement)).data[0]?.[0]);
  const partsOf = (what: string) => number(`SELECT ${what} FROM system.parts WHERE concat(database, '.', table) = '${TABLE}' AND active`);

  await run('CREATE DATABASE IF NOT EXISTS shieldlog');
  await run(CREATE_TABLE);

  const reading = { ask, table: EXPERT_TABLE };
  const search = (plan: SearchPlan) => searchClickhouse(plan, reading);
  const closing: (() => Promise<unknown>)[] = [];
  return {
    version: `clickhouse ${(await ask('SELECT version()')).data[0]?.[0]}, chdb ${await packageVersion()}`,
    ingest: async ({ file, eventsPerSecond }) => {
      if (eventsPerSecond === null) {
        const names = COLUMNS.map((column) => column.split(' ', 1)[0]).join(', ');
        await run(`INSERT INTO ${TABLE} (${names}) SELECT ${names} FROM file('${file}', JSONEachRow, '${COLUMNS.join(', ')}')`, writer);
      } else {
        const values = copies(pacedChunks(file, eventsPerSecond));
        await writer.insert({ table: TABLE, values, format: 'JSONEachRow', maxChunkBytes: INSERT_BYTES, settings: SETTINGS });
      }
    },
    // One part a day, fewer than ClickHouse merges to by itself, makes searches fastest. A day of one part is not written again.
    settle: async () => {
      while ((await number('SELECT count() FROM system.merges')) > 0) {
        await delay(20);
      }
      await run(`OPTIMIZE TABLE ${TABLE} FINAL SETTINGS optimize_skip_merged_partitions = 1`, writer);
    },
    search,
    explore: (plan) =>
      exploreClickhouse(plan, { ask: async (statement) => (await ask(statement)).data, findRows: (page) => findRows(page, reading) }),
    diskBytes: () => partsOf('sum(bytes_on_disk)'),
    listen: async () => {
      const app = fastify();
      app.post<{ Params: { zone: string }; Body: unknown }>('/shield/event-logs/:zone/search', async (request, reply) => {
        const body = Buffer.from(JSON.stringify(request.body));
        const plan = compileSearch(body, { zoneId: Number(request.params.zone), nowMs: BENCH_NOW_MS });
        return reply.type('application/json').send(await wholeAnswer(searchJson(await search(plan), plan.page, uncounted)));
      });
      closing.push(() => app.close());
      return await app.listen({ host: '127.0.0.1', port: 0 });
    },
    close: async () => {
      for (const close of closing) {
        await close();
      }
      for (const session of [writer, ...readers]) {
        session.close();
      }
      await drainPending();
    },
  };
}

async function connect(dataDir: string): Promise<Session> {
  const session = new Session(dataDir);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await session.queryAsync(`SET ${name} = ${value}`, { format: 'JSONCompact' });
  }
  return session;
}

/** Copies of the chunks, because chdb keeps them while their memory is reused. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield Buffer.from(chunk);
  }
}

async function packageVersion(): Promise<string> {
  const file = new URL('../node_modules/chdb/package.json', import.meta.url);
  return (JSON.parse(await readFile(file, 'utf8')) as { readonly version: string }).version;
}

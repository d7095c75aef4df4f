import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { engineConfig } from './cluster-engine.ts';
import { quoted } from './statement-text.ts';

const require = createRequire(join(import.meta.dirname, '../../../bench/package.json'));

type Chdb = typeof import('chdb');
type Session = InstanceType<Chdb['Session']>;

/** What a statement is run with. */
export interface StatementOrder {
  readonly statement: string;
  readonly database: string;
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  /** Where the statement names no format. */
  readonly format: string;
  /** Whether the answer comes block by block. */
  readonly streams: boolean;
}

/** The answer of a statement. */
export interface StatementAnswer {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** How many rows were read for it, 0 for an answer that comes block by block. */
  readonly rowsRead: number;
  /** Ends the statement if it has not ended. */
  close(): void;
}

/** Query parameters up to this many characters fit into a statement that sets them; the engine's own limit is twice this. */
const SHORT_PARAMS = 131_072;

/** The defaults of a server where those of the engine in a process are others. */
const SERVER_DEFAULTS = ['--implicit_select=0', '--allow_introspection_functions=0'];

/**
 * ClickHouse within this process. Each statement has a session of its own, so that its settings, parameters and database are gone with it.
 * Sessions run at the same time.
 */
export class ClickhouseEngine {
  readonly version: string;
  readonly timezone: string;
  readonly #chdb: Chdb;
  readonly #folder: string;
  readonly #args: readonly string[];
  /** Is open as long as the engine: with its last session the engine would end. */
  readonly #lasting: Session;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}.xml`, engineConfig());
    this.#args = [...SERVER_DEFAULTS, `--config-file=${folder}.xml`];
    this.#chdb = require('chdb');
    this.#folder = folder;
    this.#lasting = this.#open();
    [this.version = '', this.timezone = ''] = this.#lasting.query('SELECT version(), timezone()', 'TabSeparated').trim().split('\t');
  }

  /** Runs a statement. Rejects with the engine's error where it fails before its first block. */
  async run(order: StatementOrder): Promise<StatementAnswer> {
    const session = this.#open();
    try {
      await prepare(session, order);
      if (order.streams) return await startedStream(session, order);
      const result = await session.queryAsync(order.statement, { format: order.format });
      return { chunks: one(Buffer.from(result.bytes())), rowsRead: result.rowsRead, close: () => session.close() };
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** The text that the engine answers, for the front's own questions. */
  async ask(statement: string): Promise<string> {
    const session = this.#open();
    try {
      return (await session.queryAsync(statement, { format: 'TabSeparated' })).text();
    } finally {
      session.close();
    }
  }

  #open(): Session {
    return new this.#chdb.Session(this.#folder, { connectionArgs: this.#args });
  }
}

async function prepare(session: Session, { database, params, settings }: StatementOrder): Promise<void> {
  const set = async (assignments: readonly string[]): Promise<void> => {
    if (assignments.length > 0) await session.queryAsync(`SET ${assignments.join(', ')}`, { format: 'TabSeparated' });
  };
  const paramTexts = [...params].map(([name, value]) => `param_${name} = ${quoted(value)}`);
  const isLong = paramTexts.reduce((sum, text) => sum + text.length, 0) > SHORT_PARAMS;
  if (isLong) await set(['max_query_size = 1000000000']);
  if (database !== 'default') await session.queryAsync(`USE \`${database.replaceAll('`', '``')}\``, { format: 'TabSeparated' });
  await set(paramTexts);
  if (isLong) await set(['max_query_size = DEFAULT']);
  await set([...settings].map(([name, value]) => `${name} = ${quoted(value)}`));
}

/** The answer of a stream whose first block has come, or which has failed before. */
async function startedStream(session: Session, { statement, format }: StatementOrder): Promise<StatementAnswer> {
  const stream = session.queryStream(statement, { format });
  const blocks = stream[Symbol.asyncIterator]();
  const first = await blocks.next();
  const chunks = async function* (): AsyncIterable<Uint8Array> {
    for (let block = first; block.done !== true; block = await blocks.next()) {
      // The engine uses the memory of a block again for the next one.
      yield Buffer.from(block.value.raw());
    }
  };
  const close = (): void => {
    stream.cancel();
    session.close();
  };
  return { chunks: chunks(), rowsRead: 0, close };
}

async function* one(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

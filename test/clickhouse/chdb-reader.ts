import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SqlParam, SqlStatement } from '../../sql/statement.ts';
import type { ClickhouseClient, ClickhouseRows, ReadOptions } from '../../store/clickhouse/client.ts';
import { STATEMENT_SETTINGS } from '../../store/clickhouse/settings.ts';

/** The part of a session of chdb that is used here. */
interface Session {
  queryAsync(statement: string, options: { readonly format: string }): Promise<{ text(): string }>;
  close(): void;
}

interface Chdb {
  readonly Session: new (path?: string) => Session;
}

/** It is a package of the benchmark, which is loaded without its types. */
const { Session } = createRequire(join(import.meta.dirname, '../../bench/package.json'))('chdb') as Chdb;

interface Answer {
  readonly data: readonly (readonly unknown[])[];
  readonly rows_before_limit_at_least?: number;
}

/**
 * Runs statements on an engine in this process, without the HTTP between them. It goes once the tests' server is there.
 */
export class ChdbReader implements Pick<ClickhouseClient, 'read'>, Disposable {
  readonly #session = new Session();
  #underWay: Promise<unknown> = Promise.resolve();

  /** Opens an empty database in a folder that goes with it. */
  static async open(): Promise<ChdbReader> {
    const reader = new ChdbReader();
    await reader.run('CREATE DATABASE tested');
    await reader.run('USE tested');
    // Parameters are part of a statement's text here, so the size is looked at below.
    for (const [name, value] of Object.entries({ ...STATEMENT_SETTINGS, max_query_size: 1_000_000_000 })) {
      await reader.run(`SET ${name} = ${quoted(String(value))}`);
    }
    return reader;
  }

  async run(statement: string): Promise<string> {
    return (await this.#session.queryAsync(statement, { format: 'JSONCompact' })).text();
  }

  /** A session runs one statement at a time. */
  async read({ text, params }: SqlStatement, { signal, settings = {} }: ReadOptions): Promise<ClickhouseRows> {
    if (text.length > Number(STATEMENT_SETTINGS['max_query_size'])) {
      throw new Error(`the statement has ${text.length} characters: ${text.slice(0, 200)}`);
    }
    const before = this.#underWay;
    const reading = (async () => {
      await before.catch(() => undefined);
      signal?.throwIfAborted();
      for (const [index, param] of params.entries()) {
        await this.run(`SET param_p${index + 1} = ${quoted(paramText(param))}`);
      }
      const changed = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(String(value))}`);
      const answer = await this.run(changed.length === 0 ? text : `${text} SETTINGS ${changed.join(', ')}`);
      // An INSERT has no rows.
      return JSON.parse(answer === '' ? '{"data":[]}' : answer) as Answer;
    })();
    this.#underWay = reading;
    const { data, rows_before_limit_at_least: rowsBeforeLimit = data.length } = await reading;
    return { rows: data, rowsBeforeLimit };
  }

  [Symbol.dispose](): void {
    this.#session.close();
  }
}

function paramText({ value }: SqlParam): string {
  return typeof value === 'object' ? `[${value.map(quoted).join(',')}]` : escaped(String(value));
}

/** A text as a literal. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0', '\b': '\\b' };

/** A text as a parameter is written. */
function escaped(text: string): string {
  return text.replaceAll(/[\\\t\n\r\0\b]/g, (letter) => ESCAPES[letter] as string);
}

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

type Row = Record<string, SQLOutputValue>;
type Texts = TemplateStringsArray;

/**
 * Tags of SQL whose values are bound. A statement is prepared once for each place that it stands at. Those of `createTagStore` stay open
 * when their database is closed, and with them its file.
 */
export class PreparedSql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<Texts, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run = (texts: Texts, ...values: readonly SQLInputValue[]) => this.#prepared(texts).run(...values);
  get = (texts: Texts, ...values: readonly SQLInputValue[]): Row | undefined => this.#prepared(texts).get(...values);
  all = (texts: Texts, ...values: readonly SQLInputValue[]): readonly Row[] => this.#prepared(texts).all(...values);
  iterate = (texts: Texts, ...values: readonly SQLInputValue[]): Iterable<Row> => this.#prepared(texts).iterate(...values);

  #prepared(texts: Texts): StatementSync {
    const statement = this.#statements.get(texts) ?? this.#database.prepare(texts.join('?'));
    this.#statements.set(texts, statement);
    return statement;
  }
}

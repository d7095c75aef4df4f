import type { SqlStatement } from '../../sql/statement.ts';
import { ClickhouseClient, type ReadOptions } from '../../store/clickhouse/server/client.ts';
import type { ClickhouseRows } from '../../store/clickhouse/server/json-rows.ts';
import type { HeldResults } from '../../store/clickhouse/server/result-memory.ts';
import { CLUSTER_SETTINGS, type ClickhouseSettings } from '../../store/clickhouse/server/settings.ts';
import { CLUSTER } from './cluster/cluster-config.ts';
import { clusterUrl, type FreshDatabase, freshDatabase } from './engine.ts';
import type { Place } from './shared-store.ts';

/** The store's client in a database of its own. */
export class DatabaseReader {
  readonly #database: FreshDatabase;
  readonly client: ClickhouseClient;

  private constructor(database: FreshDatabase, settings: ClickhouseSettings) {
    this.#database = database;
    this.client = new ClickhouseClient({ urls: [database.url], user: 'default', password: '', database: database.name }, { settings });
  }

  static async open(place: Place = 'one server'): Promise<DatabaseReader> {
    return place === 'one server'
      ? new DatabaseReader(await freshDatabase(), {})
      : new DatabaseReader(await freshDatabase(clusterUrl(), clusterUrl(), CLUSTER), CLUSTER_SETTINGS);
  }

  /** The name of the database. */
  get name(): string {
    return this.#database.name;
  }

  get url(): string {
    return this.#database.url;
  }

  run(text: string): Promise<void> {
    return this.client.run({ text, params: [] });
  }

  read(statement: SqlStatement, options: ReadOptions = {}): Promise<ClickhouseRows> {
    return this.client.read(statement, options);
  }

  readRow(statement: SqlStatement, options: ReadOptions = {}): Promise<readonly unknown[]> {
    return this.client.readRow(statement, options);
  }

  holdResults(): HeldResults {
    return this.client.holdResults();
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.#database.drop();
  }
}

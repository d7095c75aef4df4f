import { type Cluster, syncReplicasStatement } from '../../sql/clickhouse/cluster.ts';
import { STORE_SETTINGS_STATEMENT, writeSettingsStatement } from '../../sql/clickhouse/settings-statements.ts';
import { SETTINGS_TABLE } from '../../sql/clickhouse/store-tables.ts';
import { STORE_SETTINGS, type StoreLogger, type StoreSetting } from '../event-store.ts';
import { IncompatibleStore, StoreError } from '../store-error.ts';
import { ClickhouseClient } from './server/client.ts';
import type { ClickhouseAddress } from './server/connection.ts';
import { insertedOnce, WITHOUT_AWAY } from './server/settings.ts';

interface StoreSettingsOptions {
  readonly client: Pick<ClickhouseClient, 'read' | 'run'>;
  readonly database: string;
  readonly cluster: Cluster | null;
  /** Those of this program. */
  readonly own: Readonly<Record<StoreSetting, string>>;
  readonly logger: StoreLogger;
}

/** Compares the settings of this program with those of the store, which the first program that served it has written. */
export class StoreSettings {
  readonly #options: StoreSettingsOptions;
  #difference: string | undefined;

  constructor(options: StoreSettingsOptions) {
    this.#options = options;
  }

  /** Says for people how the settings differed when they were last compared; undefined where they did not. */
  get difference(): string | undefined {
    return this.#difference;
  }

  /** Writes those that the store does not have yet. Throws {@link IncompatibleStore} where it has others than this program. */
  async claim(): Promise<void> {
    const { client, cluster, own } = this.#options;
    const found = await settingsIn(client);
    const missing = STORE_SETTINGS.filter((name) => !found.has(name));
    if (missing.length > 0) {
      const settings = insertedOnce(`the first ${missing.join(', ')}`);
      await client.run(writeSettingsStatement(missing.map((name) => [name, own[name]])), { settings });
      if (cluster !== null) {
        // Another node may have those of a program that was first.
        await client.run(syncReplicasStatement(SETTINGS_TABLE, cluster), { settings: WITHOUT_AWAY });
      }
    }
    const difference = this.#differenceTo(missing.length > 0 ? await settingsIn(client) : found);
    if (difference !== undefined) {
      throw new IncompatibleStore(difference);
    }
  }

  /** Whether the store has the settings of this program. Where it has others, that is logged once. */
  async areOurs(): Promise<boolean> {
    const before = this.#difference;
    this.#difference = this.#differenceTo(await settingsIn(this.#options.client));
    if (this.#difference !== undefined && this.#difference !== before) {
      this.#options.logger.warn({}, this.#difference);
    }
    return this.#difference === undefined;
  }

  #differenceTo(found: ReadonlyMap<string, string>): string | undefined {
    const { database, own } = this.#options;
    const others = STORE_SETTINGS.filter((name) => found.has(name) && found.get(name) !== own[name]);
    if (others.length === 0) {
      return undefined;
    }
    const theirs = others.map((name) => `${name}=${found.get(name)}`).join(' and ');
    const ours = others.map((name) => `${name}=${own[name]}`).join(' and ');
    const advice = "all of its programs have the same, which 'shieldlog clickhouse settings' shows and changes";
    return `the store in CLICKHOUSE_DATABASE=${database} has ${theirs}, and this program ${ours}: ${advice}`;
  }
}

/** The settings of the store at an address, by their names; none where no program has served it yet. Throws `StoreError`. */
export async function readStoreSettings(address: ClickhouseAddress): Promise<ReadonlyMap<string, string>> {
  await using client = new ClickhouseClient(address);
  return await settingsIn(client);
}

/** Changes a setting of the store at an address. Throws `StoreError`. */
export async function writeStoreSetting(address: ClickhouseAddress, name: StoreSetting, value: string): Promise<void> {
  await using client = new ClickhouseClient(address);
  if (!(await settingsIn(client)).has(name)) {
    const what = `no program has served the store in CLICKHOUSE_DATABASE=${address.database} yet`;
    throw new StoreError('unavailable', `${what}: the first one writes its own settings`);
  }
  await client.run(writeSettingsStatement([[name, value]]));
}

async function settingsIn(client: Pick<ClickhouseClient, 'read'>): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.read(STORE_SETTINGS_STATEMENT);
  return new Map(rows.map(([name, value]) => [String(name), String(value)]));
}

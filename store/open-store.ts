import { type ClickhouseStoreOptions, openClickhouseStore } from './clickhouse/open-store.ts';
import { type MigrationOptions, type MigrationReport, migrateSchema } from './clickhouse/schema.ts';
import type { ClickhouseAddress } from './clickhouse/server/connection.ts';
import { readStoreSettings, writeStoreSetting } from './clickhouse/store-settings.ts';
import { openEmbeddedStore } from './embedded/open-store.ts';
import type { StoreOptions } from './embedded/store-options.ts';
import type { EventStore, StoreSetting } from './event-store.ts';

/** Which store a program stores its events in, with its settings. */
export type ChosenStore = ({ readonly kind: 'embedded' } & StoreOptions) | ({ readonly kind: 'clickhouse' } & ClickhouseStoreOptions);

/**
 * Opens the store that is chosen and brings it to where it was. Everybody but the commands that work on a data folder opens it by this
 * function and knows it by its interface alone. Throws `StoreError`.
 */
export async function openStore(choice: ChosenStore): Promise<EventStore> {
  switch (choice.kind) {
    case 'embedded':
      return await openEmbeddedStore(choice);
    case 'clickhouse':
      return await openClickhouseStore(choice);
    default:
      return choice satisfies never;
  }
}

/** Brings the tables of a store on ClickHouse up to date, or tells what that would run. Throws `StoreError` (`unavailable`). */
export function migrateStore(address: ClickhouseAddress, options: MigrationOptions): Promise<MigrationReport> {
  return migrateSchema(address, options);
}

/** The settings that a store on ClickHouse has for all of its programs; none where none has served it yet. Throws `StoreError`. */
export function settingsOfStore(address: ClickhouseAddress): Promise<ReadonlyMap<string, string>> {
  return readStoreSettings(address);
}

/** Changes one of them. Throws `StoreError`. */
export function changeSettingOfStore(address: ClickhouseAddress, name: StoreSetting, value: string): Promise<void> {
  return writeStoreSetting(address, name, value);
}

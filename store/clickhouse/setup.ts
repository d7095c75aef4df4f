import type { StoreLogger } from '../event-store.ts';
import { IncompatibleStore, StoreError } from '../store-error.ts';
import { migrateSchema } from './schema.ts';
import type { ClickhouseClient } from './server/client.ts';
import type { ClickhouseAddress } from './server/connection.ts';
import type { StoreSettings } from './store-settings.ts';

export interface SetupOptions {
  readonly address: ClickhouseAddress;
  /** The name of the cluster that has the tables; null where one server has. */
  readonly cluster: string | null;
  readonly client: ClickhouseClient;
  readonly settings: Pick<StoreSettings, 'claim'>;
  readonly logger: StoreLogger;
}

/**
 * Brings the schema up to date before the first statement, and compares the settings. A server that is away at the start is asked again by
 * each call until it is there, so that the program may start before it.
 */
export class Setup {
  readonly #options: SetupOptions;
  #attempt: Promise<number> | undefined;

  constructor(options: SetupOptions) {
    this.#options = options;
  }

  /** Resolves with the number of the store once it can be used; rejects with `StoreError` (`unavailable`) while it cannot. */
  async done(): Promise<number> {
    const attempt = this.#attempt ?? this.#try();
    this.#attempt = attempt;
    try {
      return await attempt;
    } catch (error) {
      if (this.#attempt === attempt) {
        this.#attempt = undefined;
      }
      throw error;
    }
  }

  /**
   * Tries once, and waits for a server that does not answer for so many milliseconds at most. Rejects with {@link IncompatibleStore}, or
   * with a defect: any other fault may pass.
   */
  async begin(waitMs: number): Promise<void> {
    const { logger } = this.#options;
    const waited = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      logger.warn({ waitedMs: waitMs }, `ClickHouse has not answered for ${waitMs / 1000} s; the program goes on without it until it does`);
      waited.resolve();
    }, waitMs);
    try {
      await Promise.race([this.done(), waited.promise]);
    } catch (error) {
      if (error instanceof IncompatibleStore || !(error instanceof StoreError)) {
        throw error;
      }
      logger.warn({ err: error }, 'ClickHouse cannot be used yet; that is tried again');
    } finally {
      clearTimeout(timer);
    }
  }

  async #try(): Promise<number> {
    const { address, cluster, client, settings } = this.#options;
    await migrateSchema(address, { cluster });
    const storeId = await client.storeId();
    await settings.claim();
    return storeId;
  }
}

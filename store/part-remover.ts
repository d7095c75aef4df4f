import type { DuckDBConnection } from '@duckdb/node-api';
import { dropTableStatement } from '../sql/journal-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { Retired } from './live-set.ts';
import { removeFiles } from './published-file.ts';
import { SerialQueue } from './serial-queue.ts';
import type { StoreLogger } from './store-logger.ts';

/** Frees the memory and the files of what left the live set and is read by nobody. */
export class PartRemover {
  readonly #queue = new SerialQueue();
  readonly #connection: DuckDBConnection;
  readonly #segmentsFolder: string;
  readonly #logger: StoreLogger;

  constructor(connection: DuckDBConnection, segmentsFolder: string, logger: StoreLogger) {
    this.#connection = connection;
    this.#segmentsFolder = segmentsFolder;
    this.#logger = logger;
  }

  remove({ hotTables, files }: Retired): void {
    this.#queue
      .run(async () => {
        for (const { name, logs } of hotTables) {
          logs?.letGo();
          await runStatement(this.#connection, dropTableStatement(name));
        }
        await removeFiles(this.#segmentsFolder, files);
      })
      .catch((error: unknown) => {
        this.#logger.error({ err: error }, 'what is not needed any more could not be removed; a restart removes it');
      });
  }

  async idle(): Promise<void> {
    await this.#queue.idle();
  }
}

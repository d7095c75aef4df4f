import type { DuckDBConnection } from '@duckdb/node-api';
import { dropTableStatement } from '../../../sql/journal-statements.ts';
import { SerialQueue } from '../../serial-queue.ts';
import type { StoreLogger } from '../../store-logger.ts';
import { runStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import { removeFiles } from '../runtime/published-file.ts';
import type { Retired } from './version-set.ts';

/** Frees the memory and the files of what left the version set and is read by nobody: the journals of unflushed events, too. */
export class PartRemover {
  readonly #queue = new SerialQueue();
  readonly #connection: DuckDBConnection;
  readonly #aliases: PathAliases;
  readonly #journals: Pick<JournalFolder, 'retire' | 'eventsPath'>;
  readonly #logger: StoreLogger;

  constructor(
    connection: DuckDBConnection,
    aliases: PathAliases,
    journals: Pick<JournalFolder, 'retire' | 'eventsPath'>,
    logger: StoreLogger,
  ) {
    this.#connection = connection;
    this.#aliases = aliases;
    this.#journals = journals;
    this.#logger = logger;
  }

  remove({ growingSegments, files }: Retired): void {
    this.#run(async () => {
      for (const { source, logs, journals } of growingSegments) {
        logs.release();
        if ('table' in source) {
          await runStatement(this.#connection, dropTableStatement(source.table));
        }
        const numbers = journals.map(({ number }) => number);
        await this.#aliases.release(numbers.map((number) => this.#journals.eventsPath(number)));
        // Those that were copied into a table are not read any more either.
        await this.#journals.retire(numbers);
      }
      await this.#aliases.release(files.map(({ file }) => this.#aliases.segmentPath(file)));
      await removeFiles(this.#aliases.segmentsFolder, files);
    });
  }

  dropTable(name: string): void {
    this.#run(async () => {
      await runStatement(this.#connection, dropTableStatement(name));
    });
  }

  #run(work: () => Promise<void>): void {
    this.#queue.run(work).catch((error: unknown) => {
      this.#logger.error({ err: error }, 'what is not needed any more could not be removed; a restart removes it');
    });
  }

  async idle(): Promise<void> {
    await this.#queue.idle();
  }
}

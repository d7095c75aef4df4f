import { dropTableStatement } from '../../../sql/memtable-statements.ts';
import { SerialQueue } from '../../../work/serial-queue.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import { removeFiles } from '../runtime/file-output.ts';
import type { Part } from './version-set.ts';

/** Frees the memory and the files of parts that left the version set and are read by nobody, with the journals of unflushed events. */
export class PartRemover {
  readonly #queue = new SerialQueue();
  readonly #runner: StatementRunner;
  readonly #aliases: PathAliases;
  readonly #journals: Pick<JournalFolder, 'retire' | 'eventsPath'>;
  readonly #logger: StoreLogger;

  constructor(runner: StatementRunner, aliases: PathAliases, journals: Pick<JournalFolder, 'retire' | 'eventsPath'>, logger: StoreLogger) {
    this.#runner = runner;
    this.#aliases = aliases;
    this.#journals = journals;
    this.#logger = logger;
  }

  remove(part: Part): void {
    this.#run(async () => {
      if ('file' in part) {
        await this.#aliases.release([this.#aliases.segmentPath(part.file)]);
        await removeFiles(this.#aliases.segmentsFolder, [part]);
        return;
      }
      part.logs.references.release();
      if ('table' in part.source) {
        await this.#runner.run(dropTableStatement(part.source.table));
      }
      const numbers = part.journals.map(({ number }) => number);
      await this.#aliases.release(numbers.map((number) => this.#journals.eventsPath(number)));
      // The journals of the events that were copied into a table are not read any more either.
      await this.#journals.retire(numbers);
    });
  }

  dropTable(name: string): void {
    this.#run(async () => {
      await this.#runner.run(dropTableStatement(name));
    });
  }

  #run(work: () => Promise<void>): void {
    this.#queue.run(work).catch((error: unknown) => {
      this.#logger.error({ err: error }, 'files or tables that are not needed any more could not be removed; a restart removes them');
    });
  }

  async idle(): Promise<void> {
    await this.#queue.idle();
  }
}

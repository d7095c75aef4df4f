import { copyFile, type FileHandle, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NEWLINE } from '../../../query/json-bytes.ts';
import { namesIn, syncFolder } from '../../data-folder.ts';
import type { EventBatch } from '../../event-store.ts';
import { batchFileOf, widestColumnOf } from '../../parquet/batch-file.ts';
import { syncFile, unwritten } from '../runtime/file-output.ts';
import { journalFileName, journalFileNames, journalOfFile } from '../segment/file-names.ts';
import type { EmptyJournal, EmptyJournalTable } from './empty-journal-table.ts';
import { eventsOfDamaged, type Journal, type JournalEnd, journalOf, trailerOf, withNumber, withoutTrailer } from './journal.ts';
import { RecycledJournalFiles } from './recycled-journal-files.ts';
import { SetAsideJournals } from './set-aside-journals.ts';

/**
 * The journals on disk. Each is a Parquet file with the events of a batch and a file with their logs, a line each. The last line of the
 * logs is the trailer, which says what both files hold. Where they are not what it says, the last journal is torn, which a crash may
 * have done before it was acknowledged, and an earlier one is damaged. A journal without a new event is a row of the catalog instead.
 */
export class JournalFolder {
  readonly path: string;
  readonly #recycled: RecycledJournalFiles;
  readonly #damaged: SetAsideJournals;
  readonly #empty: EmptyJournalTable;

  constructor(path: string, empty: EmptyJournalTable) {
    this.path = path;
    this.#empty = empty;
    this.#recycled = new RecycledJournalFiles(path);
    this.#damaged = new SetAsideJournals(path);
  }

  /** The path of the file with the events of a journal. */
  eventsPath(number: number): string {
    return join(this.path, journalFileName(number, 'parquet'));
  }

  /** Resolves once the batch is on disk. */
  async write({ journal: number, sequence: firstSequence }: JournalEnd, batch: EventBatch, ingestedAtMs: number): Promise<Journal> {
    if (batch.eventCount === 0 && batch.sourceOffsets.length === 0) {
      return this.#addEmpty({ number, firstSequence, eventCount: 0, expiredCount: batch.expiredCount, ingestedAtMs });
    }
    const path = this.eventsPath(number);
    const events = batchFileOf(batch.fields, batch.eventCount, firstSequence);
    const { trailer, sizeBytes, content } = trailerOf(batch, events, { number, firstSequence, ingestedAtMs });
    const written = await Promise.allSettled([
      this.#writeFile(path, events),
      this.#writeFile(join(this.path, journalFileName(number, 'logs')), [...batch.logs, trailer]),
    ]);
    for (const result of written) {
      if (result.status === 'rejected') {
        throw result.reason;
      }
    }
    await syncFolder(this.path);
    const { eventCount, expiredCount, sourceOffsets } = batch;
    const widestColumnBytes = widestColumnOf(batch.fields);
    const counts = { eventCount, expiredCount, sizeBytes, widestColumnBytes };
    return { number, path, firstSequence, ...counts, sourceOffsets, ingestedAtMs, hasFiles: true, content };
  }

  /**
   * Removes the files of a journal whose events are all stored elsewhere, and returns the journal without them. The journal may not move a
   * source offset.
   */
  async dropFiles(journal: Journal): Promise<Journal> {
    const empty = this.#addEmpty(journal);
    await this.#removeFiles([journal.number]);
    return empty;
  }

  /** The numbers of the journals, ascending. */
  async list(): Promise<number[]> {
    const names = await namesIn(this.path);
    const numbers = names.map(journalOfFile).filter((number) => number !== undefined);
    return [...new Set([...numbers, ...this.#empty.numbers()])].sort((a, b) => a - b);
  }

  /** Reads a journal by its trailer. Returns undefined where it is torn: its files are not whole. */
  async read(number: number): Promise<Journal | undefined> {
    const empty = this.#empty.get(number);
    if (empty !== undefined) {
      return this.#journalOf(empty);
    }
    const path = this.eventsPath(number);
    const [events, logs] = await Promise.all([readIfThere(path), readIfThere(join(this.path, journalFileName(number, 'logs')))]);
    return events && logs && journalOf(number, path, events, logs);
  }

  /** Writes the files of a whole journal once more, under another number. The caller syncs the folder, and takes the old ones away. */
  async copyAs({ number: from }: Journal, number: number): Promise<void> {
    const [events, logs] = [this.eventsPath(number), join(this.path, journalFileName(number, 'logs'))];
    await copyFile(this.eventsPath(from), events);
    await writeFile(logs, withNumber(await readFile(join(this.path, journalFileName(from, 'logs'))), number));
    await syncFile(events);
    await syncFile(logs);
  }

  /** How many events a journal had whose files are not whole, as far as its logs tell. */
  async countDamaged(number: number): Promise<number> {
    const logs = await readIfThere(join(this.path, journalFileName(number, 'logs')));
    return logs === undefined ? 0 : eventsOfDamaged(logs);
  }

  /** The logs of a whole journal, newline-terminated. Those of a journal without files are blank, because nobody reads them. */
  async readLogs({ number, eventCount, hasFiles }: Journal): Promise<Buffer> {
    return hasFiles ? withoutTrailer(await readFile(join(this.path, journalFileName(number, 'logs')))) : Buffer.alloc(eventCount, NEWLINE);
  }

  /** Removes journals for good. A journal that is gone already is no error. */
  async remove(numbers: readonly number[]): Promise<void> {
    await this.#removeFiles(numbers);
    this.#empty.remove(numbers);
  }

  /**
   * Removes what earlier processes left at their end: the files of journals that the catalog has without files, and recycled files. It is
   * called before any file is recycled.
   */
  async removeLeft(): Promise<void> {
    await this.#recycled.removeLeft();
    await this.#removeFiles(this.#empty.numbers());
  }

  /** Makes a journal durable that an earlier process may have written without a sync. */
  async sync(journal: Journal | undefined): Promise<void> {
    if (journal === undefined || !journal.hasFiles) {
      return;
    }
    for (const name of journalFileNames(journal.number)) {
      await syncFile(join(this.path, name));
    }
    await syncFolder(this.path);
  }

  /** Gives the files of a torn journal names under which nothing reads them, and returns these. */
  async setAside(number: number, nowMs: number): Promise<string[]> {
    const names = await this.#damaged.setAside(journalFileNames(number), nowMs);
    await syncFolder(this.path);
    return names;
  }

  /** Keeps a copy of the files of a journal that is damaged, under names under which nothing reads them. */
  async copyAside(number: number, atMs: number): Promise<void> {
    await this.#damaged.copyAside(journalFileNames(number), atMs);
    await syncFolder(this.path);
  }

  /** Removes what was set aside before a time, in Unix milliseconds. */
  async removeSetAside(beforeMs: number): Promise<void> {
    await this.#damaged.removeBefore(beforeMs);
  }

  /** Syncs the folder also where the files are gone, because an earlier call may have removed them and failed to sync that. */
  async #removeFiles(numbers: readonly number[]): Promise<void> {
    for (const name of numbers.flatMap(journalFileNames)) {
      await rm(join(this.path, name), { force: true });
    }
    if (numbers.length > 0) {
      await syncFolder(this.path);
    }
  }

  /**
   * Removes flushed journals; their files may become those of later journals. Not synced: after a crash, the number of a journal tells that
   * it is flushed.
   */
  async retire(numbers: readonly number[]): Promise<void> {
    for (const name of numbers.flatMap(journalFileNames)) {
      await this.#recycled.keep(join(this.path, name));
    }
    this.#empty.remove(numbers);
  }

  #addEmpty(empty: EmptyJournal): Journal {
    this.#empty.add(empty);
    return this.#journalOf(empty);
  }

  #journalOf({ number, firstSequence, eventCount, expiredCount, ingestedAtMs }: EmptyJournal): Journal {
    const path = this.eventsPath(number);
    const nothing = { sourceOffsets: [], sizeBytes: 0, widestColumnBytes: 0, hasFiles: false };
    return { number, path, firstSequence, eventCount, expiredCount, ingestedAtMs, ...nothing };
  }

  /** Removes the files that are kept for later journals. */
  async removeRecycled(): Promise<void> {
    await this.#recycled.removeKept();
  }

  async #writeFile(path: string, chunks: readonly Uint8Array[]): Promise<void> {
    const recycled = await this.#recycled.take(path);
    await using file = recycled ?? (await open(path, 'wx'));
    const bytes = await writeAll(file, chunks);
    if (recycled !== undefined) {
      await file.truncate(bytes);
    }
    await file.datasync();
  }
}

/** Returns undefined where there is no such file. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  });
}

/** The system takes no more pieces in one call. */
const MAX_PIECES = 1_024;

/** Writes from the start of the file and resolves with the number of bytes. Each call waits for the event loop, so there are few calls. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<number> {
  let offset = 0;
  let left = unwritten(chunks, 0);
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left.slice(0, MAX_PIECES), offset);
    offset += bytesWritten;
    left = unwritten(left, bytesWritten);
  }
  return offset;
}

import { type FileHandle, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../data-folder.ts';
import type { EventBatch } from '../../event-store.ts';
import { unwritten } from '../runtime/unwritten.ts';
import type { EmptyJournal, EmptyJournalTable } from './empty-journal-table.ts';
import type { Journal } from './journal.ts';
import type { JournalEnd } from './journal-end.ts';
import { journalFileOf } from './journal-file.ts';
import { journalOf, trailerOf, withoutTrailer } from './journal-trailer.ts';
import { RecycledJournalFiles } from './recycled-journal-files.ts';

const KINDS = ['parquet', 'logs'] as const;

const NEWLINE = 0x0a;

const nameOf = (number: number, kind: (typeof KINDS)[number]) => `${String(number).padStart(12, '0')}.${kind}`;

/**
 * The journals on disk. Each is a Parquet file with the events of a batch, and a file with their logs, a line each. The last line of the
 * logs, the trailer, says what both hold, and by that marks them whole: where it does not, they are the torn remains of a crash. A journal
 * without a new event has no files, and is a row of the catalog.
 */
export class JournalFolder {
  readonly path: string;
  readonly #recycled: RecycledJournalFiles;
  readonly #empty: EmptyJournalTable;

  constructor(path: string, empty: EmptyJournalTable) {
    this.path = path;
    this.#empty = empty;
    this.#recycled = new RecycledJournalFiles(path);
  }

  /** Of the file with a journal's events. */
  eventsPath(number: number): string {
    return join(this.path, nameOf(number, 'parquet'));
  }

  /** Returns once the batch is on disk. */
  async write({ journal: number, sequence: firstSequence }: JournalEnd, batch: EventBatch, ingestedAtMs: number): Promise<Journal> {
    if (batch.eventCount === 0 && batch.sourceOffsets.length === 0) {
      return this.#addEmpty({ number, firstSequence, eventCount: 0, expiredCount: batch.expiredCount, ingestedAtMs });
    }
    const path = this.eventsPath(number);
    const events = journalFileOf(batch.fields, batch.eventCount, firstSequence);
    const { trailer, sizeBytes } = trailerOf(batch, events, { number, firstSequence, ingestedAtMs });
    const written = await Promise.allSettled([
      this.#writeFile(path, events),
      this.#writeFile(join(this.path, nameOf(number, 'logs')), [...batch.logs, trailer]),
    ]);
    for (const result of written) {
      if (result.status === 'rejected') {
        throw result.reason;
      }
    }
    await syncFolder(this.path);
    const { eventCount, expiredCount, sourceOffsets } = batch;
    return { number, path, firstSequence, eventCount, expiredCount, sourceOffsets, sizeBytes, ingestedAtMs, hasFiles: true };
  }

  /**
   * Removes the files of a journal whose events are all stored elsewhere, and returns what it is without them. It may move no source
   * offset.
   */
  async dropFiles(journal: Journal): Promise<Journal> {
    const empty = this.#addEmpty(journal);
    await this.#removeFiles([journal.number]);
    return empty;
  }

  /** The numbers of the journals, ascending. */
  async list(): Promise<number[]> {
    const names = await readdir(this.path);
    const numbers = names.filter((name) => /^\d{12}\.(parquet|logs)$/.test(name)).map((name) => Number(name.slice(0, 12)));
    return [...new Set([...numbers, ...this.#empty.numbers()])].sort((a, b) => a - b);
  }

  /** A journal by its trailer; undefined where it was torn by a crash before it was whole. */
  async read(number: number): Promise<Journal | undefined> {
    const empty = this.#empty.get(number);
    if (empty !== undefined) {
      // A crash may have come before the files were removed.
      await this.#removeFiles([number]);
      return this.#journalOf(empty);
    }
    const path = this.eventsPath(number);
    const [events, logs] = await Promise.all([readIfThere(path), readIfThere(join(this.path, nameOf(number, 'logs')))]);
    return events && logs && journalOf(number, path, events, logs);
  }

  /** The logs of a whole journal, newline-terminated. Those of one without files are blank, because nobody reads them. */
  async readLogs({ number, eventCount, hasFiles }: Journal): Promise<Buffer> {
    return hasFiles ? withoutTrailer(await readFile(join(this.path, nameOf(number, 'logs')))) : Buffer.alloc(eventCount, NEWLINE);
  }

  /** Removes journals for good; one that is gone already is no error. */
  async remove(numbers: readonly number[]): Promise<void> {
    await this.#removeFiles(numbers);
    this.#empty.remove(numbers);
  }

  async #removeFiles(numbers: readonly number[]): Promise<void> {
    let removed = 0;
    for (const name of namesOf(numbers)) {
      try {
        await unlink(join(this.path, name));
        removed += 1;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          throw error;
        }
      }
    }
    if (removed > 0) {
      await syncFolder(this.path);
    }
  }

  /**
   * The same of journals that are flushed; their files may become those of later ones. Not synced: what is there again after a crash is
   * known to be flushed by its number.
   */
  async retire(numbers: readonly number[]): Promise<void> {
    for (const name of namesOf(numbers)) {
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
    return { number, path, firstSequence, eventCount, expiredCount, sourceOffsets: [], sizeBytes: 0, ingestedAtMs, hasFiles: false };
  }

  /** Removes the files that are kept for later journals. */
  async removeRecycled(): Promise<void> {
    await this.#recycled.removeKept();
  }

  /** Removes what an earlier process kept. To be called before anything else. */
  async removeLeft(): Promise<void> {
    await this.#recycled.removeLeft();
  }

  async #writeFile(path: string, chunks: readonly Uint8Array[]): Promise<void> {
    const recycled = await this.#recycled.take(path);
    const file = recycled ?? (await open(path, 'wx'));
    try {
      const bytes = await writeAll(file, chunks);
      if (recycled !== undefined) {
        await file.truncate(bytes);
      }
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

function namesOf(numbers: readonly number[]): string[] {
  return numbers.flatMap((number) => KINDS.map((kind) => nameOf(number, kind)));
}

/** Undefined where there is no such file. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  });
}

/** The system takes no more pieces at a time. */
const MAX_PIECES = 1_024;

/**
 * From the start of the file on. Resolves with the number of bytes. A call for each chunk would wait for the event loop each time, which is
 * busy with what comes next.
 */
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

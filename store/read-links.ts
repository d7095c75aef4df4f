import { linkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreLogger } from './store-logger.ts';

export interface ReadLinksOptions {
  readonly segmentsFolder: string;
  /** For the links; empty, and in the same file system as what they are to. */
  readonly linksFolder: string;
  readonly logger: StoreLogger;
}

/**
 * The paths that DuckDB reads journals, segments and bundles by. Of every path that it has read it remembers something for good (`ExternalFileCache`: 2.6 KB of memory that no limit counts), and of those that searches read the footers, too (`parquet_metadata_cache`:
 * 26 KB and more), which it forgets only when it has no memory left and nothing else to drop; what is read often and groups that are being counted go first. So files are read by links in a folder of their own, under numbers that are used again: what
 * is remembered of a file that is gone makes way for what is remembered of another. DuckDB sees that it is another.
 */
export class ReadLinks {
  readonly segmentsFolder: string;
  readonly linksFolder: string;
  readonly #logger: StoreLogger;
  /** The number of the link to each file; null for one that is read as it is. */
  readonly #numbers = new Map<string, number | null>();
  /** Those of links that are gone. */
  readonly #free: number[] = [];
  #next = 0;
  #hasWarned = false;

  constructor({ segmentsFolder, linksFolder, logger }: ReadLinksOptions) {
    this.segmentsFolder = segmentsFolder;
    this.linksFolder = linksFolder;
    this.#logger = logger;
  }

  /** Of a segment or bundle. */
  segmentPath(file: string): string {
    return join(this.segmentsFolder, file);
  }

  /** Where to read a segment or bundle. */
  toSegment(file: string): string {
    return this.linkTo(this.segmentPath(file));
  }

  /** Where to read a file, the same each time until it is released; the path itself where there can be no link. */
  linkTo(path: string): string {
    const known = this.#numbers.get(path);
    const number = known === undefined ? this.#makeLink(path) : known;
    return number === null ? path : this.#link(number);
  }

  /** Gives up the links to files that nobody reads any more. Never rejects: what is done with the files does not depend on it. A link that cannot be removed stays until the next start, and its number is not used again. */
  async release(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const number = this.#numbers.get(path) ?? null;
      this.#numbers.delete(path);
      if (number !== null) {
        await this.#removeLink(path, number);
      }
    }
  }

  /** What is read by links; an error names the files instead. */
  async explaining<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** An error that names the files instead of links to them. */
  explained(error: unknown): unknown {
    if (!(error instanceof Error)) {
      return error;
    }
    let message = error.message;
    for (const [path, number] of message.includes(this.linksFolder) ? this.#numbers : []) {
      message = number === null ? message : message.replaceAll(this.#link(number), path);
    }
    return message === error.message ? error : new Error(message, { cause: error });
  }

  #link(number: number): string {
    return join(this.linksFolder, `${number}.parquet`);
  }

  /** A number whose link cannot be made is not tried again: something may be in its way. */
  #makeLink(path: string): number | null {
    const number = this.#free.shift() ?? this.#next++;
    try {
      linkSync(path, this.#link(number));
      this.#numbers.set(path, number);
      return number;
    } catch (error) {
      this.#numbers.set(path, null);
      this.#warn(path, error as NodeJS.ErrnoException);
      return null;
    }
  }

  async #removeLink(path: string, number: number): Promise<void> {
    try {
      await rm(this.#link(number), { force: true });
      this.#free.push(number);
    } catch (error) {
      this.#warn(path, error as NodeJS.ErrnoException);
    }
  }

  #warn(path: string, error: NodeJS.ErrnoException): void {
    // Of a file that is not there whoever reads it says so.
    if (error.code !== 'ENOENT' && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#logger.warn(
        { err: error, path },
        'a hard link in DATA_DIR cannot be made or removed: what DuckDB remembers of files stays in memory when they are gone',
      );
    }
  }
}

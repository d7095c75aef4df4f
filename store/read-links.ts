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
 * The paths that DuckDB reads journals and segments by. Of every path that it has read it remembers something for good (`ExternalFileCache`: 2.6 KB of memory that no limit counts), and of those that searches read the footers, too (`parquet_metadata_cache`:
 * 26 KB and more), which it forgets only when it has no memory left and nothing else to drop; what is read often and groups that are being counted go first. So files are read by links in a folder of their own, under numbers that are used again: what
 * is remembered of a file that is gone makes way for what is remembered of another. DuckDB sees that it is another.
 */
export class ReadLinks {
  readonly segmentsFolder: string;
  readonly #linksFolder: string;
  readonly #logger: StoreLogger;
  /** The number of the link to each file. */
  readonly #numbers = new Map<string, number>();
  /** Numbers without a link. */
  readonly #free: number[] = [];
  #next = 0;
  #hasLinks = true;

  constructor({ segmentsFolder, linksFolder, logger }: ReadLinksOptions) {
    this.segmentsFolder = segmentsFolder;
    this.#linksFolder = linksFolder;
    this.#logger = logger;
  }

  segmentPath(file: string): string {
    return join(this.segmentsFolder, file);
  }

  /** Where to read a file, the same each time until it is released; the path itself where the file system has no links. */
  linkTo(path: string): string {
    const known = this.#numbers.get(path);
    if (known !== undefined) {
      return this.#link(known);
    }
    if (!this.#hasLinks) {
      return path;
    }
    const number = this.#free.shift() ?? this.#next++;
    try {
      linkSync(path, this.#link(number));
    } catch (error) {
      this.#free.push(number);
      this.#noLink(path, error as NodeJS.ErrnoException);
      return path;
    }
    this.#numbers.set(path, number);
    return this.#link(number);
  }

  /** Gives up the links to files that are to be removed and that nobody reads any more. */
  async release(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const number = this.#numbers.get(path);
      if (number !== undefined) {
        await rm(this.#link(number), { force: true });
        this.#numbers.delete(path);
        this.#free.push(number);
      }
    }
  }

  /** An error that names the files instead of links to them. */
  explained(error: Error): Error {
    let message = error.message;
    for (const [path, number] of message.includes(this.#linksFolder) ? this.#numbers : []) {
      message = message.replaceAll(this.#link(number), path);
    }
    return message === error.message ? error : new Error(message, { cause: error });
  }

  #link(number: number): string {
    return join(this.#linksFolder, `${number}.parquet`);
  }

  #noLink(path: string, error: NodeJS.ErrnoException): void {
    // Whoever reads it says that it is not there.
    if (error.code !== 'ENOENT') {
      this.#hasLinks = false;
      this.#logger.warn(
        { err: error, path },
        'DATA_DIR has no hard links: what DuckDB remembers of removed files stays in memory until it needs the room',
      );
    }
  }
}

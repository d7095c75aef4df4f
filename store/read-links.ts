import { linkSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreLogger } from './store-logger.ts';

export interface ReadLinksOptions {
  readonly segmentsFolder: string;
  /** For the links; empty, and in the same file system as what they are to. */
  readonly linksFolder: string;
  readonly logger: StoreLogger;
}

/** By what DuckDB tells two files apart that had the same path one after the other. */
interface FileIdentity {
  /** Of its last change, in Unix seconds. */
  readonly second: bigint;
  /** The rest: inode and size. */
  readonly rest: string;
}

/** A link's name, to one file at a time. */
interface LinkName {
  readonly number: number;
  /** The last second in which one of its files was changed. */
  second: bigint;
  /** What else there is to those of that second. */
  readonly rests: Set<string>;
}

const NANOSECONDS = 1_000_000_000n;

/**
 * The paths that DuckDB reads journals and segments by. Of every path that it has read it remembers something for good (`ExternalFileCache`: 2.6 KB of memory that no limit counts), and of those that searches read the footers, too (`parquet_metadata_cache`:
 * 26 KB and more), which it forgets only when it has no memory left and nothing else to drop; what is read often and groups that are being counted go first. So files are read by links in a folder of their own, under numbers that are used again: what
 * is remembered of a file that is gone makes way for what is remembered of another. That it is another DuckDB sees by inode, size and the second of the last change; of a new file all three may be those of one that was removed, so no number is used for two such files.
 */
export class ReadLinks {
  readonly segmentsFolder: string;
  readonly linksFolder: string;
  readonly #logger: StoreLogger;
  /** The link to each file; null for one that is read as it is. */
  readonly #links = new Map<string, LinkName | null>();
  /** The names of links that are gone. */
  readonly #free: LinkName[] = [];
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

  /** Where to read a segment. */
  toSegment(file: string): string {
    return this.linkTo(this.segmentPath(file));
  }

  /** Where to read a file, the same each time until it is released; the path itself where there can be no link. */
  linkTo(path: string): string {
    const known = this.#links.get(path);
    const link = known === undefined ? this.#makeLink(path) : known;
    return link === null ? path : this.#pathOf(link);
  }

  /** Gives up the links to files that nobody reads any more. Never rejects: what is done with the files does not depend on it. A link that cannot be removed stays until the next start, and its name is not used again. */
  async release(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const link = this.#links.get(path) ?? null;
      this.#links.delete(path);
      if (link !== null) {
        await this.#removeLink(path, link);
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
    for (const [path, link] of message.includes(this.linksFolder) ? this.#links : []) {
      message = link === null ? message : message.replaceAll(this.#pathOf(link), path);
    }
    return message === error.message ? error : new Error(message, { cause: error });
  }

  #pathOf({ number }: LinkName): string {
    return join(this.linksFolder, `${number}.parquet`);
  }

  /** A name whose link cannot be made is not tried again: something may be in its way. */
  #makeLink(path: string): LinkName | null {
    try {
      const link = this.#nameFor(identityOf(path));
      linkSync(path, this.#pathOf(link));
      this.#links.set(path, link);
      return link;
    } catch (error) {
      this.#links.set(path, null);
      this.#warn(path, error as NodeJS.ErrnoException);
      return null;
    }
  }

  /** A name that no such file has had, and that from here on one has. */
  #nameFor({ second, rest }: FileIdentity): LinkName {
    const place = this.#free.findIndex((link) => second > link.second || (second === link.second && !link.rests.has(rest)));
    const [link = { number: this.#next++, second, rests: new Set<string>() }] = place === -1 ? [] : this.#free.splice(place, 1);
    if (second > link.second) {
      link.second = second;
      link.rests.clear();
    }
    link.rests.add(rest);
    return link;
  }

  async #removeLink(path: string, link: LinkName): Promise<void> {
    try {
      await rm(this.#pathOf(link), { force: true });
      this.#free.push(link);
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

function identityOf(path: string): FileIdentity {
  const { mtimeNs, ino, size } = statSync(path, { bigint: true });
  return { second: mtimeNs / NANOSECONDS, rest: `${ino} ${size}` };
}

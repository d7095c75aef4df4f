import { linkSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreLogger } from '../../store-logger.ts';

export interface PathAliasesOptions {
  readonly segmentsFolder: string;
  /** Holds the aliases as hard links; the folder keeps its name on disk. It is empty at first, and in the same file system as the files. */
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

/** A name that is a hard link to one file at a time. */
interface Alias {
  readonly number: number;
  /** The last second in which one of its files was changed. */
  second: bigint;
  /** What else there is to those of that second. */
  readonly rests: Set<string>;
}

const NANOSECONDS = 1_000_000_000n;

/**
 * The aliases by which DuckDB reads journals and segments: hard links under numbers that are used again, so that DuckDB's memory of paths
 * stays small. DuckDB remembers 2.6 KB of every path for good (`ExternalFileCache`), which no limit counts, and 26 KB and more of the
 * footers that searches read (`parquet_metadata_cache`), which it drops last. What it remembers of a file that is gone makes way for what
 * it remembers of the next file with that alias. It tells the two apart by inode, size and the second of the last change, so no alias is
 * given to two files that share all three.
 */
export class PathAliases {
  readonly segmentsFolder: string;
  readonly linksFolder: string;
  readonly #logger: StoreLogger;
  /** The alias of each file; null for one that is read by its own path. */
  readonly #aliases = new Map<string, Alias | null>();
  /** The aliases that no file has at present. */
  readonly #free: Alias[] = [];
  #next = 0;
  #hasWarned = false;

  constructor({ segmentsFolder, linksFolder, logger }: PathAliasesOptions) {
    this.segmentsFolder = segmentsFolder;
    this.linksFolder = linksFolder;
    this.#logger = logger;
  }

  /** Of a segment or blob file. */
  segmentPath(file: string): string {
    return join(this.segmentsFolder, file);
  }

  /** The path to read a segment by. */
  segmentAlias(file: string): string {
    return this.aliasFor(this.segmentPath(file));
  }

  /** The path to read a file by, the same each time until it is released; its own where no hard link can be made. */
  aliasFor(path: string): string {
    const known = this.#aliases.get(path);
    const alias = known === undefined ? this.#makeAlias(path) : known;
    return alias === null ? path : this.#aliasPath(alias);
  }

  /**
   * Removes the aliases of files that nobody reads any more. Never rejects. An alias that cannot be removed stays until the next start, and
   * is not used again.
   */
  async release(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const alias = this.#aliases.get(path) ?? null;
      this.#aliases.delete(path);
      if (alias !== null) {
        await this.#removeAlias(path, alias);
      }
    }
  }

  /** Settles as `result`, with an error that names the files instead of their aliases. */
  async withOriginalPaths<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw this.withOriginalPath(error);
    }
  }

  /** Returns the error with the paths of the files instead of their aliases. */
  withOriginalPath(error: unknown): unknown {
    if (!(error instanceof Error)) {
      return error;
    }
    let message = error.message;
    for (const [path, alias] of message.includes(this.linksFolder) ? this.#aliases : []) {
      message = alias === null ? message : message.replaceAll(this.#aliasPath(alias), path);
    }
    return message === error.message ? error : new Error(message, { cause: error });
  }

  #aliasPath({ number }: Alias): string {
    return join(this.linksFolder, `${number}.parquet`);
  }

  /** An alias whose hard link cannot be made is not tried again, because something may be in its way. */
  #makeAlias(path: string): Alias | null {
    try {
      const alias = this.#freeAliasFor(identityOf(path));
      linkSync(path, this.#aliasPath(alias));
      this.#aliases.set(path, alias);
      return alias;
    } catch (error) {
      this.#aliases.set(path, null);
      this.#warn(path, error as NodeJS.ErrnoException);
      return null;
    }
  }

  /** Returns an alias that no file of this identity has had, and notes that one has it now. */
  #freeAliasFor({ second, rest }: FileIdentity): Alias {
    const index = this.#free.findIndex((alias) => second > alias.second || (second === alias.second && !alias.rests.has(rest)));
    const [alias = { number: this.#next++, second, rests: new Set<string>() }] = index === -1 ? [] : this.#free.splice(index, 1);
    if (second > alias.second) {
      alias.second = second;
      alias.rests.clear();
    }
    alias.rests.add(rest);
    return alias;
  }

  async #removeAlias(path: string, alias: Alias): Promise<void> {
    try {
      await rm(this.#aliasPath(alias), { force: true });
      this.#free.push(alias);
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

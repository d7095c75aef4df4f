import { linkSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreLogger } from '../../event-store.ts';

declare const checked: unique symbol;

/** A file of the segments folder whose content was checked before DuckDB may read it. */
export interface CheckedFile {
  readonly file: string;
  readonly [checked]: true;
}

export interface PathAliasesOptions {
  readonly segmentsFolder: string;
  /** Holds the aliases as hard links. It is empty at first, and in the same file system as the files. */
  readonly linksFolder: string;
  readonly logger: StoreLogger;
}

/** The facts by which DuckDB tells apart two files that had the same path one after the other. */
interface FileIdentity {
  /** Unix seconds of its last change. */
  readonly second: bigint;
  /** Inode and size. */
  readonly rest: string;
}

/** A hard link that is to one file at a time. */
interface Alias {
  readonly number: number;
  /** The last second in which one of its files was changed. */
  second: bigint;
  /** The inodes and sizes of its files of that second. */
  readonly rests: Set<string>;
}

const NANOSECONDS = 1_000_000_000n;

/**
 * The aliases by which DuckDB reads journals and segments: hard links under numbers that are used again, so that DuckDB's memory of paths
 * stays small. DuckDB keeps 2.6 KB for every path for good (`ExternalFileCache`), which no limit counts, and 26 KB or more for every footer
 * that a search has read (`parquet_metadata_cache`), which it evicts last. The next file with an alias replaces both. DuckDB tells the two
 * files apart by inode, size and the second of the last change, so no alias is given to two files that share all three.
 */
export class PathAliases {
  readonly segmentsFolder: string;
  readonly linksFolder: string;
  readonly #logger: StoreLogger;
  /** The alias of each file; null for a file that is read by its own path. */
  readonly #aliases = new Map<string, Alias | null>();
  /** The aliases without a file. */
  readonly #free: Alias[] = [];
  #next = 0;
  #hasWarned = false;

  constructor({ segmentsFolder, linksFolder, logger }: PathAliasesOptions) {
    this.segmentsFolder = segmentsFolder;
    this.linksFolder = linksFolder;
    this.#logger = logger;
  }

  /** The own path of a segment or blob file. */
  segmentPath(file: string): string {
    return join(this.segmentsFolder, file);
  }

  /** The path by which DuckDB reads a segment. */
  segmentAlias({ file }: CheckedFile): string {
    return this.aliasFor(this.segmentPath(file));
  }

  /** The path by which DuckDB reads a file, the same until the file is released; its own path where no hard link can be made. */
  aliasFor(path: string): string {
    const known = this.#aliases.get(path);
    const alias = known === undefined ? this.#makeAlias(path) : known;
    return alias === null ? path : this.#aliasPath(alias);
  }

  /**
   * Removes the aliases of files that nobody reads any more. Never rejects. An alias that cannot be removed stays until the next start and
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

  /** Returns the error with the paths of the files instead of their aliases. */
  withOriginalPaths(error: unknown): unknown {
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

  /** A number whose hard link cannot be made is not tried again, because something may be in its way. */
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

  /** Returns an alias that no file of this identity has had, and records the identity. */
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
    // The reader of a missing file reports it.
    if (error.code !== 'ENOENT' && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#logger.warn(
        { err: error, path },
        'a hard link in DATA_DIR cannot be made or removed: DuckDB will hold some memory for files that are gone',
      );
    }
  }
}

function identityOf(path: string): FileIdentity {
  const { mtimeNs, ino, size } = statSync(path, { bigint: true });
  return { second: mtimeNs / NANOSECONDS, rest: `${ino} ${size}` };
}

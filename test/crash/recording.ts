import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { SerialQueue } from '../../work/serial-queue.ts';

/** It counts for what was done before it was called: for the operations in front of `after`. */
export interface Sync {
  /** What is synced, at this moment. */
  readonly path: string;
  readonly after: number;
  /** The functions of the store that are under way, the innermost first. */
  readonly place: readonly string[];
}

/** Something that the program did in a recorded folder. Paths are below it; files are numbers, because they are renamed. */
export type Operation =
  | { readonly kind: 'make folder'; readonly path: string }
  | { readonly kind: 'make file'; readonly path: string; readonly file: number }
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'cut'; readonly file: number; readonly size: number }
  | ({ readonly kind: 'sync file'; readonly file: number } & Sync)
  | ({ readonly kind: 'sync folder' } & Sync)
  /** As systems have it after an I/O error, no later sync of a file writes to the disk what this one was to write. */
  | ({ readonly kind: 'failed sync'; readonly file: number | undefined } & Sync)
  | { readonly kind: 'rename'; readonly file: number; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  /** SQLite changed its files, which are these now, by their paths. */
  | { readonly kind: 'sqlite'; readonly files: ReadonlyMap<string, Buffer> };

/** Lets an operation that changes or syncs something fail, once: the one with this number from now on, counted from 0. */
export interface Fault {
  readonly at: number;
  readonly code: 'ENOSPC' | 'EIO' | 'EROFS';
}

/** A call of the program. `record` gets its result. */
export interface RecordedCall {
  readonly name: string;
  readonly path: string;
  readonly run: () => unknown;
  readonly record: (result: unknown) => void;
  /** Whether it changes or syncs something. */
  readonly changes: boolean;
  /** What it does where it fails. Its result is recorded, too. */
  readonly runToFailure?: () => unknown;
}

const SQLITE_FILE = /\.sqlite(-wal|-journal)?$/;

/** A start empties these folders before it reads any of them. */
const EMPTIED = ['links', 'spill'];

/**
 * Records what the program does to the files below a folder until it is ended. The calls of Node run one after the other, so that two runs
 * of a history record the same. What SQLite did is seen when a statement or another call ends, and a file that DuckDB wrote when the
 * program opens it.
 */
export class Recording {
  static readonly active = new Set<Recording>();
  readonly operations: Operation[] = [];
  readonly root: string;
  readonly dataDir: string;
  readonly #queue = new SerialQueue();
  readonly #files = new Map<string, number>();
  #nextFile = 0;
  #sqlite: ReadonlyMap<string, Buffer> = new Map();
  #fault: Fault | undefined;
  #counted = 0;

  /** What is below `root` already is durable, but for the `unsynced` paths. `dataDir` is below it, or it. */
  constructor(root: string, dataDir: string, unsynced: readonly string[] = []) {
    this.root = root;
    this.dataDir = dataDir;
    this.#takeFolder('', unsynced);
    this.watchSqlite();
    Recording.active.add(this);
  }

  end(): void {
    Recording.active.delete(this);
  }

  failAt(fault: Fault): void {
    this.#fault = fault;
    this.#counted = 0;
  }

  /** Lets no operation fail any more, and returns whether one has failed. */
  endFault(): boolean {
    const hasFailed = this.#fault === undefined;
    this.#fault = undefined;
    return hasFailed;
  }

  /** The path below the root; undefined where it is elsewhere, where SQLite alone writes, and where no start reads. */
  pathOf(value: unknown): string | undefined {
    const path = typeof value === 'string' ? relative(this.root, resolve(value)) : '..';
    if (path.split(sep)[0] === '..' || SQLITE_FILE.test(path)) {
      return undefined;
    }
    const [first = '', ...below] = relative(this.dataDir, join(this.root, path)).split(sep);
    return EMPTIED.includes(first) && below.length > 0 ? undefined : path;
  }

  /** Carries out a call when those before it are done. */
  performInTurn(call: RecordedCall): Promise<unknown> {
    return this.#queue.run(async () => await this.perform(call));
  }

  perform(call: RecordedCall): unknown {
    this.watchSqlite();
    const failure = call.changes ? this.#failureOf(call) : undefined;
    if (failure !== undefined && call.runToFailure === undefined) {
      throw failure;
    }
    const finish = (result: unknown): unknown => {
      call.record(result);
      this.watchSqlite();
      if (failure !== undefined) {
        throw failure;
      }
      return result;
    };
    const result = (failure === undefined ? call.run : call.runToFailure)?.();
    return result instanceof Promise ? result.then(finish) : finish(result);
  }

  /** Records the files of SQLite where they changed. */
  watchSqlite(): void {
    const names = statSync(this.dataDir, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(this.dataDir);
    const read = (name: string) => [relative(this.root, join(this.dataDir, name)), readFileSync(join(this.dataDir, name))] as const;
    const files = new Map(names.filter((name) => SQLITE_FILE.test(name)).map(read));
    if (files.size !== this.#sqlite.size || [...files].some(([path, bytes]) => this.#sqlite.get(path)?.equals(bytes) !== true)) {
      this.#sqlite = files;
      this.operations.push({ kind: 'sqlite', files });
    }
  }

  /** Notes that a path is open now, and returns its file. One that was not written by Node is recorded with its content. */
  opened(path: string, flags: string): number | undefined {
    let file = this.#files.get(path);
    if (file === undefined && !statSync(join(this.root, path)).isDirectory()) {
      file = this.#nextFile;
      this.#nextFile += 1;
      this.#files.set(path, file);
      this.operations.push({ kind: 'make file', path, file });
      if (!/[wax]/.test(flags)) {
        this.operations.push({ kind: 'write', file, offset: 0, bytes: readFileSync(join(this.root, path)) });
      }
    } else if (file !== undefined && flags.startsWith('w')) {
      this.operations.push({ kind: 'cut', file, size: 0 });
    }
    return file;
  }

  renamed(from: string, to: string): void {
    const file = this.#files.get(from);
    if (file === undefined) {
      throw new Error(`${from} is renamed, and nobody has opened it`);
    }
    this.#files.delete(from);
    this.#files.set(to, file);
    this.operations.push({ kind: 'rename', file, from, to });
  }

  removed(path: string): void {
    if (this.#files.delete(path)) {
      this.operations.push({ kind: 'remove', path });
    }
  }

  #failureOf({ name, path }: RecordedCall): Error | undefined {
    this.#counted += 1;
    if (this.#fault === undefined || this.#counted <= this.#fault.at) {
      return undefined;
    }
    const { code } = this.#fault;
    this.#fault = undefined;
    return Object.assign(new Error(`${code}: it is made to fail, ${name} '${join(this.root, path)}'`), { code, syscall: name, path });
  }

  #takeFolder(path: string, unsynced: readonly string[]): void {
    const names = readdirSync(join(this.root, path));
    const isUnsynced = (name: string) => unsynced.includes(join(path, name));
    for (const name of names.filter((one) => !isUnsynced(one))) this.#takeEntry(join(path, name), unsynced);
    this.operations.push({ kind: 'sync folder', path, after: this.operations.length, place: [] });
    for (const name of names.filter(isUnsynced)) this.#takeEntry(join(path, name), unsynced);
  }

  #takeEntry(path: string, unsynced: readonly string[]): void {
    if (this.pathOf(join(this.root, path)) === undefined) {
      return;
    }
    const file = this.opened(path, 'r');
    if (file === undefined) {
      this.operations.push({ kind: 'make folder', path });
      this.#takeFolder(path, unsynced);
    } else if (!unsynced.includes(path)) {
      this.operations.push({ kind: 'sync file', file, path, after: this.operations.length, place: [] });
    }
  }
}

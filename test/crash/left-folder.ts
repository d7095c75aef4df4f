import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Operation } from './recording.ts';

type Of<K extends Operation['kind']> = Extract<Operation, { readonly kind: K }>;

/** A change that a power loss may undo, because it is not synced. */
export type Change = Of<'write' | 'cut' | 'make folder' | 'make file' | 'rename' | 'remove'>;

/** What becomes of an unsynced change: all of it, nothing, or of a write the bytes from a share of its length up to another. */
export type Fate = 'kept' | 'lost' | readonly [from: number, to: number];

/** The files and folders that a crash leaves, by their paths; null is a folder. */
export type LeftFolder = ReadonlyMap<string, Buffer | null>;

/** What stands under a name: a file, or a folder. */
type Entry = number | 'folder';

interface Unsynced<C extends Change = Change> {
  readonly change: C;
  readonly index: number;
}

interface FileState {
  durable: Buffer;
  unsynced: readonly Unsynced<Of<'write' | 'cut'>>[];
}

interface FolderState {
  durable: ReadonlyMap<string, Entry>;
  unsynced: readonly Unsynced<Of<'make folder' | 'make file' | 'rename' | 'remove'>>[];
}

/** A disk to which operations come in their order. It can tell at any time what a crash would leave. */
export class Disk {
  readonly #files = new Map<number, FileState>();
  readonly #folders = new Map<string, FolderState>([['', { durable: new Map(), unsynced: [] }]]);
  /** The changes that no sync makes durable any more, because it failed. */
  readonly #never = new Set<Change>();
  #sqlite: ReadonlyMap<string, Buffer> = new Map();
  #count = 0;

  apply(operation: Operation): void {
    const index = this.#count;
    this.#count += 1;
    switch (operation.kind) {
      case 'make folder':
        this.#folders.set(operation.path, { durable: new Map(), unsynced: [] });
        this.#name(operation.path, operation, index);
        break;
      case 'make file':
        this.#files.set(operation.file, { durable: Buffer.alloc(0), unsynced: [] });
        this.#name(operation.path, operation, index);
        break;
      case 'rename':
        this.#name(operation.to, operation, index);
        break;
      case 'remove':
        this.#name(operation.path, operation, index);
        break;
      case 'write':
      case 'cut': {
        const file = this.#file(operation.file);
        if (file.unsynced.some(({ change }) => this.#never.has(change))) {
          throw new Error(`file ${operation.file} is written to after its sync failed`);
        }
        file.unsynced = [...file.unsynced, { change: operation, index }];
        return;
      }
      case 'sync file':
        this.#syncFile(this.#file(operation.file), operation.after);
        break;
      case 'sync folder':
        this.#syncFolder(this.#folder(operation.path), operation.after);
        break;
      case 'failed sync': {
        for (const { change, index: done } of operation.file === undefined ? [] : this.#file(operation.file).unsynced) {
          if (done < operation.after) this.#never.add(change);
        }
        break;
      }
      case 'sqlite':
        this.#sqlite = operation.files;
    }
  }

  /** Skips an operation, as if the program had not done it. */
  skip(): void {
    this.#count += 1;
  }

  /** The changes that a power loss may undo now. */
  unsynced(): Set<Change> {
    return new Set([...this.#files.values(), ...this.#folders.values()].flatMap(({ unsynced }) => unsynced.map(({ change }) => change)));
  }

  /** The paths that are there now and that a power loss may take, or take content of. */
  unsyncedPaths(path = ''): string[] {
    const { durable, unsynced } = this.#folder(path);
    return [...named(durable, unsynced)].flatMap(([name, entry]) => {
      const below = join(path, name);
      const own = durable.get(name) !== entry || (entry !== 'folder' && this.#file(entry).unsynced.length > 0) ? [below] : [];
      return entry === 'folder' ? [...own, ...this.unsyncedPaths(below)] : own;
    });
  }

  /** Whether a sync of the change has failed, so that no later one makes it durable. */
  isUnwritten(change: Change): boolean {
    return this.#never.has(change);
  }

  /** What a crash leaves now, given what becomes of each unsynced change. Of a kill nothing is lost. */
  left(fateOf: (change: Change) => Fate): LeftFolder {
    const left = new Map<string, Buffer | null>();
    this.#leave('', left, fateOf);
    for (const [path, bytes] of this.#sqlite) {
      if (left.has(dirname(path)) || dirname(path) === '.') left.set(path, bytes);
    }
    return left;
  }

  #leave(path: string, left: Map<string, Buffer | null>, fateOf: (change: Change) => Fate): void {
    const { durable, unsynced } = this.#folder(path);
    const kept = unsynced.filter(({ change }) => fateOf(change) !== 'lost');
    for (const [name, entry] of named(durable, kept)) {
      const below = join(path, name);
      if (entry === 'folder') {
        left.set(below, null);
        this.#leave(below, left, fateOf);
      } else {
        const file = this.#file(entry);
        left.set(
          below,
          file.unsynced.reduce((content, { change }) => changed(content, change, fateOf(change)), file.durable),
        );
      }
    }
  }

  #file(file: number): FileState {
    const state = this.#files.get(file);
    if (state === undefined) throw new Error(`there is no file ${file}`);
    return state;
  }

  #folder(path: string): FolderState {
    const state = this.#folders.get(path);
    if (state === undefined) throw new Error(`there is no folder ${JSON.stringify(path)}`);
    return state;
  }

  #name(path: string, change: FolderState['unsynced'][number]['change'], index: number): void {
    const folder = this.#folder(parentOf(path));
    folder.unsynced = [...folder.unsynced, { change, index }];
  }

  #syncFile(file: FileState, after: number): void {
    const isDone = ({ change, index }: Unsynced) => index < after && !this.#never.has(change);
    file.durable = file.unsynced.filter(isDone).reduce((content, { change }) => changed(content, change, 'kept'), file.durable);
    file.unsynced = file.unsynced.filter((one) => !isDone(one));
  }

  #syncFolder(folder: FolderState, after: number): void {
    const isDone = ({ change, index }: Unsynced) => index < after && !this.#never.has(change);
    folder.durable = named(folder.durable, folder.unsynced.filter(isDone));
    folder.unsynced = folder.unsynced.filter((one) => !isDone(one));
  }
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === '.' ? '' : parent;
}

/** The names of a folder after these changes, some before which may be missing. */
function named(names: ReadonlyMap<string, Entry>, changes: FolderState['unsynced']): Map<string, Entry> {
  const after = new Map(names);
  for (const { change } of changes) {
    switch (change.kind) {
      case 'make folder':
        after.set(basename(change.path), 'folder');
        break;
      case 'make file':
        after.set(basename(change.path), change.file);
        break;
      case 'rename':
        after.delete(basename(change.from));
        after.set(basename(change.to), change.file);
        break;
      case 'remove':
        after.delete(basename(change.path));
    }
  }
  return after;
}

function changed(content: Buffer, change: Of<'write' | 'cut'>, fate: Fate): Buffer {
  if (fate === 'lost') {
    return content;
  }
  const [from, to] = fate === 'kept' ? [0, 1] : fate;
  if (change.kind === 'cut') {
    // Of a cut there is no part.
    return fate === 'kept' ? Buffer.concat([content], change.size) : content;
  }
  const [start, end] = [Math.floor(change.bytes.length * from), Math.ceil(change.bytes.length * to)];
  if (start >= end) {
    return content;
  }
  const after = Buffer.concat([content], Math.max(content.length, change.offset + end));
  change.bytes.copy(after, change.offset + start, start, end);
  return after;
}

const digests = new WeakMap<Buffer, string>();

function digestOf(bytes: Buffer): string {
  const digest = digests.get(bytes) ?? createHash('sha1').update(bytes).digest('hex');
  digests.set(bytes, digest);
  return digest;
}

/** Two folders with equal digests hold the same. */
export function digestOfFolder(left: LeftFolder): string {
  const lines = [...left].map(([path, bytes]) => `${path} ${bytes === null ? '' : digestOf(bytes)}`);
  return lines.sort().join('\n');
}

export function writeFolder(root: string, left: LeftFolder): void {
  for (const [path, bytes] of left) {
    if (bytes === null) {
      mkdirSync(join(root, path), { recursive: true });
    } else {
      writeFileSync(join(root, path), bytes);
    }
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open as openFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { NEWLINE } from '../../query/json-bytes.ts';
import { syncFolder } from '../../store/data-folder.ts';
import { type FileRotation, isRotationDue, rotatedName } from './file-rotation.ts';
import { DeliveryError, deliveredWhole, type RecordPosition, type Sink, type SinkPosition } from './sink.ts';

export interface FileSinkOptions {
  readonly path: string;
  readonly rotation: FileRotation;
  /** The position recorded last; null at the first start. */
  readonly position: SinkPosition;
  readonly record: RecordPosition;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
}

/** The progress of a file sink. */
interface FilePosition {
  /** The file's inode, which tells it from another file with the same name. Empty: no file yet. */
  readonly inode: string;
  /** The file's bytes up to here were accepted. */
  readonly size: number;
  /** The end of the batch that is being written; bytes between `size` and here are a part of it. Null: no write is under way. */
  readonly writingTo: number | null;
  /** When the file was begun, Unix ms UTC. */
  readonly sinceMs: number;
  /** Names of the rotated files that are still kept, oldest first. */
  readonly rotated: readonly string[];
  /** The new name while a rotation is under way; null otherwise. */
  readonly rotatingTo: string | null;
}

const NO_FILE: FilePosition = { inode: '', size: 0, writingTo: null, sinceMs: 0, rotated: [], rotatingTo: null };

function asSinkPosition(position: FilePosition): SinkPosition {
  return { ...position };
}

/** Reads a recorded position; null where there is none, or it belongs to a sink of another kind. */
function filePositionIn(position: SinkPosition): FilePosition | null {
  if (position === null) return null;
  const { inode, size, writingTo, sinceMs, rotated, rotatingTo } = position;
  if (typeof inode !== 'string' || typeof size !== 'number' || typeof sinceMs !== 'number') return null;
  if (!Array.isArray(rotated) || !rotated.every((name) => typeof name === 'string')) return null;
  return {
    inode,
    size,
    writingTo: typeof writingTo === 'number' ? writingTo : null,
    sinceMs,
    rotated,
    rotatingTo: typeof rotatingTo === 'string' ? rotatingTo : null,
  };
}

interface OutputFile {
  readonly handle: FileHandle;
  readonly inode: string;
  /** The file's length, which is the end of a line. */
  readonly size: number;
}

/** Errors of opening a file that a person has to correct. Others may pass, such as those of a full disk or too many open files. */
const LASTING: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENODEV',
  'ENOENT',
  'ENOTDIR',
  'ENXIO',
  'EPERM',
  'EROFS',
  'ETXTBSY',
]);

/** Opens a file for appending, and makes one where there is none. Throws DeliveryError. */
export async function openForAppending(path: string): Promise<FileHandle> {
  try {
    // With O_APPEND nothing is overwritten even if another process writes to the file.
    return await openFile(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o640);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DeliveryError(LASTING.has(code) ? 'refused' : 'unavailable', `${path} cannot be opened: ${message}`, { cause: error });
  }
}

/** Whether a file of so many bytes, at least one, ends with a line end. */
export async function endsWithNewline(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === NEWLINE;
}

/**
 * Opens a file for appending, and cuts off the part of an unfinished batch. Throws DeliveryError `refused` where the file does not end with
 * a line end, or another process has appended to it.
 */
async function openOutputFile(path: string, recorded: FilePosition, tell: (message: string) => void): Promise<OutputFile> {
  const handle = await openForAppending(path);
  try {
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new DeliveryError('refused', `${path} is not a file`);
    const inode = String(found.ino);
    let size = Number(found.size);
    const before = recorded.inode === inode ? recorded : null;
    if (before !== null && size > (before.writingTo ?? before.size)) {
      const added = `${size - before.size} bytes that this feed did not write`;
      throw new DeliveryError('refused', `${path} has ${added}; give every feed a file of its own, or move this one away`);
    }
    if (before !== null && size > before.size) {
      tell(`${path}: cut off ${size - before.size} bytes of an unfinished batch`);
      await handle.truncate(before.size);
      await handle.sync();
      size = before.size;
    }
    if (size > 0 && !(await endsWithNewline(handle, size))) {
      throw new DeliveryError(
        'refused',
        `${path} ends in the middle of a line that this feed did not write; mend it, or name another file`,
      );
    }
    if (before !== null && size < before.size) tell(`${path} was shortened by ${before.size - size} bytes; going on at its end`);
    await syncFolder(dirname(path));
    return { handle, inode, size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface FoundFile {
  readonly inode: string;
  readonly size: bigint;
}

/** Resolves with null where nothing has this path. */
async function findFile(path: string): Promise<FoundFile | null> {
  try {
    const { ino, size } = await stat(path, { bigint: true });
    return { inode: String(ino), size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Appends batches to a file, which are on disk before they count as accepted, and rotates the file by size or time. Every event is in the
 * files exactly once, even after a crash, because the next start cuts an unfinished batch off. Throws DeliveryError `refused` where the
 * file cannot be used, or another process writes to it, and `unavailable` where another attempt may succeed.
 */
export async function openFileSink(options: FileSinkOptions): Promise<Sink> {
  const { rotation, record, now, tell } = options;
  const path = resolve(options.path);
  const folder = dirname(path);
  let position: FilePosition = filePositionIn(options.position) ?? NO_FILE;
  /** Null after a failed step of opening or rotating, which the next delivery repeats. */
  let file: OutputFile | null = null;

  /** Keeps the position in memory only after it is recorded, so that a failed step is repeated. */
  async function keepPosition(next: FilePosition): Promise<void> {
    await record(asSinkPosition(next));
    position = next;
  }

  async function close(): Promise<void> {
    const open = file;
    file = null;
    await open?.handle.close();
  }

  /** Opens the file that is at the path now, and records it before the first write. */
  async function open(): Promise<void> {
    await close();
    if (position.rotatingTo !== null) position = await finishRotation(position.rotatingTo);
    file = await openOutputFile(path, position, tell);
    const same = position.inode === file.inode && file.size > 0;
    await keepPosition({ ...position, inode: file.inode, size: file.size, writingTo: null, sinceMs: same ? position.sinceMs : now() });
  }

  async function freeName(): Promise<string> {
    for (let number = 1; ; number += 1) {
      const name = rotatedName(rotation.pattern, path, now(), number);
      if ((await findFile(join(folder, name))) === null) return name;
    }
  }

  /** Removes the oldest rotated files beyond the number to keep, and resolves with the others. */
  async function withoutOldest(rotated: readonly string[]): Promise<readonly string[]> {
    const surplus = rotation.keep === null ? 0 : Math.max(0, rotated.length - rotation.keep);
    for (const name of rotated.slice(0, surplus)) await rm(join(folder, name), { force: true });
    return rotated.slice(surplus);
  }

  async function isRecordedFile(name: string): Promise<boolean> {
    return (await findFile(join(folder, name)))?.inode === position.inode;
  }

  /** Renames the file, unless that happened before a crash, or somebody has removed the file. The position after it has no file. */
  async function finishRotation(recordedName: string): Promise<FilePosition> {
    let name = recordedName;
    // Another process may have put a file of its own at either path after a crash.
    if (await isRecordedFile(basename(path))) {
      if ((await findFile(join(folder, name))) !== null) {
        name = await freeName();
        await keepPosition({ ...position, rotatingTo: name });
      }
      await rename(path, join(folder, name));
    }
    await syncFolder(folder);
    const rotated = (await isRecordedFile(name)) ? [...position.rotated, name] : position.rotated;
    return { ...NO_FILE, rotated: await withoutOldest(rotated) };
  }

  /** Records the new name before the rename, so that a restart knows which file the recorded size belongs to. */
  async function rotate(): Promise<void> {
    await keepPosition({ ...position, rotatingTo: await freeName() });
    await open();
  }

  /** False where another process has moved, emptied or extended the file. */
  async function isAsRecorded(): Promise<boolean> {
    const found = await findFile(path);
    return found?.inode === position.inode && found.size === BigInt(position.size);
  }

  async function append({ handle }: OutputFile, bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, written, bytes.length - written);
      written += bytesWritten;
    }
    await handle.datasync();
  }

  async function deliver(bytes: Buffer): Promise<void> {
    const isUnfinished = position.rotatingTo !== null || position.writingTo !== null;
    if (file === null || isUnfinished || !(await isAsRecorded())) await open();
    if (isRotationDue(rotation, position, bytes.length, now())) await rotate();
    if (file === null) throw new Error('it is not open');
    const end = position.size + bytes.length;
    // The end of the batch is recorded first, so that a restart can tell a part of it from bytes of another process.
    await keepPosition({ ...position, writingTo: end });
    await append(file, bytes);
    position = { ...position, size: end, writingTo: null };
  }

  /** Makes other errors of a step ones that allow a retry. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (error instanceof DeliveryError) throw error;
      throw new DeliveryError('unavailable', `${path} cannot be written: ${(error as Error).message}`, { cause: error });
    }
  }

  try {
    await attempt(open);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: path,
    async deliver({ bytes }) {
      await attempt(() => deliver(bytes));
      return deliveredWhole(asSinkPosition(position));
    },
    close,
  };
}

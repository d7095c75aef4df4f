import { access, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '../../store/data-folder.ts';
import { DeliveryError } from './delivery-error.ts';
import { asSinkPosition, type FilePosition, filePositionIn } from './file-position.ts';
import { type FileRotation, isRotationDue, rotatedName } from './file-rotation.ts';
import { type OutputFile, openOutputFile } from './open-output-file.ts';
import type { RecordPosition, Sink, SinkPosition } from './sink.ts';

export interface FileSinkOptions {
  readonly path: string;
  readonly rotation: FileRotation;
  /** What was recorded last; null at the first start. */
  readonly position: SinkPosition;
  readonly record: RecordPosition;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Takes messages for people. */
  readonly tell: (message: string) => void;
}

/** Of no file: no inode is empty. */
const UNKNOWN: FilePosition = { inode: '', size: 0, writingTo: null, sinceMs: 0, rotated: [], rotatingTo: null };

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

/**
 * Appends batches to a file, on disk before they count as accepted, and sets the file aside by size or time. With the recorded position
 * every event is in the files exactly once, whenever the process dies: what a batch left that was not through is cut off at the next start.
 * Throws DeliveryError `refused` where the file cannot be used, or another process writes to it.
 */
export async function openFileSink(options: FileSinkOptions): Promise<Sink> {
  const { rotation, record, now, tell } = options;
  const path = resolve(options.path);
  const folder = dirname(path);
  let position: FilePosition = filePositionIn(options.position) ?? UNKNOWN;
  /** Null while none is open: a step on the way to the next one failed, and will be tried again. */
  let file: OutputFile | null = null;

  /** In force once it is recorded, not before: what fails in between is done again. */
  async function keepPosition(next: FilePosition): Promise<void> {
    await record(asSinkPosition(next));
    position = next;
  }

  async function close(): Promise<void> {
    const open = file;
    file = null;
    await open?.handle.close();
  }

  /** Opens what is at the path now, and records it before anything is written there. */
  async function open(): Promise<void> {
    await close();
    if (position.rotatingTo !== null) position = await finishRotation(position, position.rotatingTo);
    file = await openOutputFile(path, position, tell);
    const same = position.inode === file.inode && file.size > 0;
    await keepPosition({ ...position, inode: file.inode, size: file.size, writingTo: null, sinceMs: same ? position.sinceMs : now() });
  }

  async function freeName(): Promise<string> {
    for (let number = 1; ; number += 1) {
      const name = rotatedName(rotation.pattern, path, now(), number);
      if (!(await exists(join(folder, name)))) return name;
    }
  }

  /** The new list of files that were set aside; those beyond the number to keep are removed. */
  async function withoutOldest(rotated: readonly string[]): Promise<readonly string[]> {
    const surplus = rotation.keep === null ? 0 : Math.max(0, rotated.length - rotation.keep);
    for (const name of rotated.slice(0, surplus)) await rm(join(folder, name), { force: true });
    return rotated.slice(surplus);
  }

  /** Gives the file its new name; after a crash it may have it. The position has no file then. */
  async function finishRotation(before: FilePosition, name: string): Promise<FilePosition> {
    const target = join(folder, name);
    if (!(await exists(target))) await rename(path, target);
    await syncFolder(folder);
    return { ...UNKNOWN, rotated: await withoutOldest([...before.rotated, name]) };
  }

  /** The name is recorded first, so that a restart knows which file the recorded size is of. */
  async function rotate(): Promise<void> {
    await keepPosition({ ...position, rotatingTo: await freeName() });
    await open();
  }

  /** Somebody else may have moved the file away, emptied it, or written to it. */
  async function isAsRecorded(): Promise<boolean> {
    const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return found !== null && String(found.ino) === position.inode && found.size === BigInt(position.size);
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
    const isHalfDone = position.rotatingTo !== null || position.writingTo !== null;
    if (file === null || isHalfDone || !(await isAsRecorded())) await open();
    if (isRotationDue(rotation, position, bytes.length, now())) await rotate();
    if (file === null) throw new Error('it is not open');
    const end = position.size + bytes.length;
    // Recorded first, so that a restart can tell the remains of this batch from what another process wrote.
    await keepPosition({ ...position, writingTo: end });
    await append(file, bytes);
    position = { ...position, size: end, writingTo: null };
  }

  await open();
  return {
    name: path,
    async deliver({ bytes }) {
      try {
        await deliver(bytes);
      } catch (error) {
        if (error instanceof DeliveryError) throw error;
        throw new DeliveryError('unavailable', `${path} cannot be written: ${(error as Error).message}`, { cause: error });
      }
      return asSinkPosition(position);
    },
    close,
  };
}

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../store/data-folder.ts';
import { DeliveryError } from './delivery-error.ts';
import type { FilePosition } from './file-position.ts';

const NEWLINE = 0x0a;

export interface OutputFile {
  readonly handle: FileHandle;
  readonly inode: string;
  /** Whole lines end here; the file is not longer. */
  readonly size: number;
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    // Appending, because should another process write there after all, nothing of it is to be overwritten.
    return await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o640);
  } catch (error) {
    throw new DeliveryError('refused', `${path} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

async function endsWithNewline(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === NEWLINE;
}

/**
 * Opens a file to go on behind what was recorded of it, or at its end where the record is of another file. What a batch left that was being
 * written is cut off. Throws DeliveryError `refused` where lines cannot be added to what is there, or somebody else has added some.
 */
export async function openOutputFile(path: string, recorded: FilePosition, tell: (message: string) => void): Promise<OutputFile> {
  const handle = await openForWriting(path);
  try {
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new DeliveryError('refused', `${path} is not a file`);
    const inode = String(found.ino);
    let size = Number(found.size);
    const known = recorded.inode === inode ? recorded : null;
    if (known !== null && size > (known.writingTo ?? known.size)) {
      const added = `${size - known.size} bytes that this feed did not write`;
      throw new DeliveryError('refused', `${path} has ${added}; give every feed a file of its own, or move this one away`);
    }
    if (known !== null && size > known.size) {
      tell(`${path}: cut off ${size - known.size} bytes of a batch that was not through`);
      await handle.truncate(known.size);
      await handle.sync();
      size = known.size;
    }
    if (size > 0 && !(await endsWithNewline(handle, size))) {
      throw new DeliveryError('refused', `${path} ends in the middle of a line that this did not write; mend it, or name another file`);
    }
    if (known !== null && size < known.size) tell(`${path} was shortened by ${known.size - size} bytes; going on at its end`);
    await syncFolder(dirname(path));
    return { handle, inode, size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

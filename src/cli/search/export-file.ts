import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { syncFolder } from '../../../store/data-folder.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { CommandFailed } from '../command.ts';

/**
 * Writes all bytes to a file, which has its name only once it is whole and on disk: until then it is `NAME.….part` beside it, and an
 * earlier file of that name stays. A name that ends in `.gz` or `.zst` is compressed. What is no regular file, such as a pipe, is written
 * to directly. Throws CommandFailed where it cannot be written, and what `bytes` throws; nothing of the file is left then.
 */
export async function writeWholeFile(name: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const target = await targetOf(name);
  const { path, isRegular } = target;
  const partial = isRegular ? `${path}.${randomBytes(4).toString('hex')}.part` : path;
  let handle: FileHandle | null = null;
  try {
    handle = await open(partial, isRegular ? 'wx' : 'w');
    await writeAll(handle, name, bytes);
    if (isRegular) await handle.sync();
    await handle.close();
    handle = null;
    if (isRegular) await publish(partial, path);
  } catch (error) {
    await handle?.close();
    if (isRegular) await rm(partial, { force: true });
    // Errors of files have an errno, those of `bytes` have none.
    if (error instanceof DeliveryError || (error as NodeJS.ErrnoException).errno === undefined) throw error;
    throw new CommandFailed(`${name} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** The file behind symbolic links, which stay; of a device such as `/dev/stdout` its own name. */
async function targetOf(name: string): Promise<{ readonly path: string; readonly isRegular: boolean }> {
  const found = await statOrNull(name, stat);
  if (found === null) {
    if ((await statOrNull(name, lstat)) !== null) throw new CommandFailed(`${name} is a link to nothing; allowed: the name of a file`);
    return { path: name, isRegular: true };
  }
  if (found.isDirectory()) throw new CommandFailed(`${name} is a folder; allowed: the name of a file`);
  return found.isFile() ? { path: await realpath(name), isRegular: true } : { path: name, isRegular: false };
}

/** Null where there is no such file. */
async function statOrNull(name: string, look: (name: string) => Promise<Stats>): Promise<Stats | null> {
  try {
    return await look(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandFailed(`${name} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

async function writeAll(handle: FileHandle, name: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const write = (chunks: AsyncIterable<Buffer>): Promise<void> => handle.writeFile(chunks);
  if (name.endsWith('.gz')) await pipeline(bytes, createGzip(), write);
  else if (name.endsWith('.zst')) await pipeline(bytes, createZstdCompress(), write);
  else await write(bytes);
}

async function publish(partial: string, path: string): Promise<void> {
  await rename(partial, path);
  await syncFolder(dirname(path));
}

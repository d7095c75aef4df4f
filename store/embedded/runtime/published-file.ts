import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Has a file of the segments folder written under a temporary name and gives it its own once it is whole and on disk; resolves with its
 * size in bytes. The folder is still to be synced. Nothing is left of it when this rejects.
 */
export async function writeWhole(folder: string, file: string, write: (path: string) => Promise<unknown>): Promise<number> {
  const path = join(folder, file);
  const temporary = `${path}.tmp`;
  try {
    await write(temporary);
    const bytes = await syncFile(temporary);
    await rename(temporary, path);
    return bytes;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export async function removeFiles(folder: string, files: readonly { readonly file: string }[]): Promise<void> {
  for (const { file } of files) {
    await rm(join(folder, file), { force: true });
  }
}

/** Returns the size in bytes. */
async function syncFile(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

import { dirname } from 'node:path';
import { syncFolder } from '../../store/data-folder.ts';
import { endsWithNewline, openForAppending } from './file-sink.ts';
import { DeliveryError } from './sink.ts';

const NEWLINE = Buffer.from('\n');

/**
 * Appends lines to a file, which are given without their ends, and resolves once they are on disk. A line that a crash or a full disk left
 * unfinished is ended first. Throws DeliveryError: `refused` where the file cannot be used, `unavailable` where another attempt may
 * succeed.
 */
export async function appendRejected(path: string, lines: readonly Buffer[]): Promise<void> {
  const handle = await openForAppending(path);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new DeliveryError('refused', `${path} is not a file`);
    const isUnfinished = found.size > 0 && !(await endsWithNewline(handle, found.size));
    await handle.writeFile(Buffer.concat([...(isUnfinished ? [NEWLINE] : []), ...lines.flatMap((line) => [line, NEWLINE])]));
    await handle.sync();
    await syncFolder(dirname(path));
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    throw new DeliveryError('unavailable', `${path} cannot be written: ${(error as Error).message}`, { cause: error });
  } finally {
    await handle.close();
  }
}

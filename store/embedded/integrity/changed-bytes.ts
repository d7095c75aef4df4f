import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { damageIn } from '../../sqlite-transaction.ts';
import { isFaultOfFile } from '../runtime/file-fault.ts';
import { blocksOf, changeIn, type FileRange, packBlocks } from '../segment/segment-blocks.ts';

/** Ranges of a file to compare with their checksums. */
export interface FileToCheck {
  readonly path: string;
  /** The size of the whole file. */
  readonly bytes: number;
  readonly ranges: readonly FileRange[];
}

/** What is wrong with each file; undefined where nothing is. */
export type FileFaults = (string | undefined)[];

/** Files to check, a segment whose blocks nobody knows, or a file of SQLite. */
export type CheckTask = readonly FileToCheck[] | { readonly blocksOf: string } | { readonly sqliteFile: string };

/** The faults of the files; or the blocks of the segment, packed. */
export type CheckResult = FileFaults | Uint8Array;

/** The work of a thread that reads files. */
export function startWork(): (task: CheckTask) => CheckResult {
  return (task) => {
    if ('blocksOf' in task) {
      return packBlocks(blocksOf(task.blocksOf));
    }
    return 'sqliteFile' in task ? [faultOfSqliteFile(task.sqliteFile)] : task.map(faultOfFile);
  };
}

/** Reads a file of SQLite as it is now, also while others write it. */
export function faultOfSqliteFile(path: string): string | undefined {
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    return damageIn(database);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Does the work of the thread on the main thread, which does other things after each range. */
export async function readFilesInTurn(task: readonly FileToCheck[]): Promise<FileFaults> {
  const faults: FileFaults = [];
  for (const { ranges, ...file } of task) {
    let fault: string | undefined;
    for (const range of ranges) {
      fault ??= faultOfFile({ ...file, ranges: [range] });
      await setImmediate();
    }
    faults.push(fault);
  }
  return faults;
}

/**
 * What is wrong with a file that is missing, that the disk does not give, or whose content changed, also when it is read again. Throws what
 * says nothing about the file, such as that too many are open.
 */
export function faultOfFile(file: FileToCheck): string | undefined {
  return firstFault(file) === undefined ? undefined : firstFault(file);
}

function firstFault({ path, bytes, ranges }: FileToCheck): string | undefined {
  try {
    return changeIn(path, bytes, ranges);
  } catch (error) {
    if (!isFaultOfFile(error)) {
      throw error;
    }
    return (error as Error).message;
  }
}

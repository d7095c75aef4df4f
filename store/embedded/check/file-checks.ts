import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DataFolder } from '../../data-folder.ts';
import type { CheckLine } from '../../event-store.ts';
import { setAsideAt } from '../../set-aside.ts';
import { checkBlobFile } from '../blob/blob-file-reader.ts';
import type { FileToCheck } from '../integrity/changed-bytes.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { journalFileNames } from '../segment/file-names.ts';
import type { Segment } from '../segment/segment.ts';
import { rangesOf, unpackBlocks } from '../segment/segment-blocks.ts';

/** What a check reads. */
export interface CheckedParts {
  readonly folder: DataFolder;
  readonly segments: readonly Segment[];
  readonly blobFiles: readonly BlobFile[];
  /** The numbers of the journals whose events are in no segment. */
  readonly journals: readonly number[];
  readonly journalFolder: Pick<JournalFolder, 'read' | 'countDamaged'>;
  /** What is wrong with a file; undefined where nothing is. */
  readonly faultOf: (file: FileToCheck) => Promise<string | undefined>;
  readonly faultOfSqliteFile: (path: string) => Promise<string | undefined>;
  /** What is wrong with the catalog; undefined where nothing is. */
  readonly catalogFault: () => string | undefined;
  /** Keeps a part where it is until the result is disposed; undefined where it is gone already. */
  readonly hold: (part: Segment | BlobFile | number) => Disposable | undefined;
  /** Is told of a segment that is not whole. */
  readonly onDamage: (segment: Segment) => Promise<void>;
}

/** What is wrong with a file, or the number of its events where nothing is. */
type Finding = string | number;

/** A file to read. */
interface Work {
  /** Its path in the data folder. */
  readonly file: string;
  readonly bytes: number;
  /** The part of the store that it is; a journal by its number. */
  readonly part?: Segment | BlobFile | number;
  readonly read: () => Promise<Finding>;
  /** As many events as a fault takes at most; null where nothing tells. */
  readonly atMost: () => Promise<number | null> | number | null;
}

/** Reads everything, file by file. */
export async function* checkFiles(parts: CheckedParts): AsyncGenerator<CheckLine> {
  const works = [...sqliteFiles(parts), ...segments(parts), ...blobFiles(parts), ...journals(parts)];
  const totalBytes = works.reduce((sum, { bytes }) => sum + bytes, 0);
  let [files, bytes, events, faults] = [0, 0, 0, 0];
  for (const work of works) {
    const found = await readHeld(work, parts);
    if (typeof found === 'string') {
      faults += 1;
      yield { kind: 'fault', file: work.file, fault: found, events: await work.atMost() };
    }
    files += found === undefined ? 0 : 1;
    events += typeof found === 'number' ? found : 0;
    bytes += work.bytes;
    yield { kind: 'progress', bytes, totalBytes };
  }
  yield { kind: 'summary', folder: parts.folder.root, files, bytes, events, faults };
}

/** Reads a file; undefined where it is gone, because its events are in other files by now, or have expired. */
async function readHeld({ part, read }: Work, { hold }: CheckedParts): Promise<Finding | undefined> {
  using held = part === undefined ? new DisposableStack() : hold(part);
  if (held === undefined) {
    return undefined;
  }
  const found = await read();
  // A flush removes the files of a journal even while it is held, so what was found may be of files that were on their way out.
  return typeof part === 'number' && hold(part) === undefined ? undefined : found;
}

function sqliteFiles({ folder, catalogFault, faultOfSqliteFile }: CheckedParts): Work[] {
  const catalog = basename(folder.catalogFile);
  const others = readdirSync(folder.root).filter((name) => name.endsWith('.sqlite') && setAsideAt(name) === undefined && name !== catalog);
  return [catalog, ...others].map((name) => {
    const path = join(folder.root, name);
    const read = async () => (name === catalog ? catalogFault() : await faultOfSqliteFile(path)) ?? 0;
    return { file: name, bytes: sizeOf(path), read, atMost: () => null };
  });
}

function segments({ folder, segments: all, faultOf, onDamage }: CheckedParts): Work[] {
  return all.map((segment) => {
    const { file, bytes, rows, damage, blocks } = segment;
    const read = async (): Promise<Finding> => {
      if (damage !== undefined) {
        return damage;
      }
      const fault = await faultOf({ path: join(folder.segments, file), bytes, ranges: rangesOf(unpackBlocks(blocks)) });
      if (fault !== undefined) {
        await onDamage(segment);
      }
      return fault ?? rows;
    };
    return { file: join(basename(folder.segments), file), bytes, part: segment, read, atMost: () => rows };
  });
}

function blobFiles({ folder, blobFiles: all }: CheckedParts): Work[] {
  return all.map((blobFile) => {
    const { file, bytes, rows } = blobFile;
    const read = async () => (await checkBlobFile(join(folder.segments, file), blobFile)) ?? 0;
    return { file: join(basename(folder.segments), file), bytes, part: blobFile, read, atMost: () => rows };
  });
}

const NOT_WHOLE = 'it is not whole: its batch was not acknowledged, or its files were damaged later';

function journals({ folder, journals: numbers, journalFolder }: CheckedParts): Work[] {
  return numbers.map((number) => {
    const names = journalFileNames(number);
    const bytes = names.reduce((sum, name) => sum + sizeOf(join(folder.journal, name)), 0);
    const read = async (): Promise<Finding> => {
      const journal = await journalFolder.read(number);
      // The events of a journal without files are lost, or are in other files, where they are counted.
      return journal === undefined ? NOT_WHOLE : journal.hasFiles ? journal.eventCount : 0;
    };
    const atMost = () => journalFolder.countDamaged(number);
    return { file: join(basename(folder.journal), names[0] ?? ''), bytes, part: number, read, atMost };
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

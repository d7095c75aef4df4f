import type { SinkPosition } from './sink.ts';

/** Where a file sink stands. */
export interface FilePosition {
  /** The file's inode: another file of the same name is another file. */
  readonly inode: string;
  /** All of it up to here was accepted. */
  readonly size: number;
  /**
   * Where the batch ends that is being written: what lies between is the remains of it. Null: nothing is being written, and what lies
   * beyond is of somebody else.
   */
  readonly writingTo: number | null;
  /** When the file was begun, Unix ms UTC. */
  readonly sinceMs: number;
  /** Names of the files that were set aside and are still kept, oldest first. */
  readonly rotated: readonly string[];
  /** The name that the file is about to get; null where it is not being set aside. */
  readonly rotatingTo: string | null;
}

export function asSinkPosition(position: FilePosition): SinkPosition {
  return { ...position };
}

/** Reads a recorded position; null where there is none, or it is of another kind of sink. */
export function filePositionIn(position: SinkPosition): FilePosition | null {
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

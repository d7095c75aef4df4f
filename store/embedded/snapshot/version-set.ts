import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment } from '../segment/segment.ts';
import { ZoneEnds } from './feed-zone-ends.ts';
import type { GrowingSegment } from './growing-segment.ts';

/** What a search reads: it stays readable until released, whatever is flushed, compacted or dropped meanwhile. */
export interface Snapshot {
  readonly growingSegments: readonly GrowingSegment[];
  readonly segments: readonly Segment[];
  readonly blobFiles: readonly BlobFile[];
  /** Unflushed events with this sequence or a higher one came after the snapshot. */
  readonly endSequence: bigint;
  release(): void;
}

export interface Retired {
  readonly growingSegments: readonly Pick<GrowingSegment, 'source' | 'logs' | 'journals'>[];
  /** Files of the segments folder. */
  readonly files: readonly (Segment | BlobFile)[];
}

type Part = GrowingSegment | Segment | BlobFile;

/**
 * The growing segments and segments that hold the events right now, each event in exactly one of them, and the blob files with the logs of
 * the flushed ones. Parts are exchanged in one step; a part that was taken out is handed to `onRetired` once no snapshot holds it any more.
 */
export class VersionSet {
  #growingSegments: readonly GrowingSegment[] = [];
  #segments: readonly Segment[];
  #blobFiles: readonly BlobFile[];
  #endSequence: bigint;
  readonly #readers = new Map<Part, number>();
  readonly #leaving = new Set<Part>();
  readonly #onRetired: (part: Retired) => void;
  readonly #listeners = new Set<() => void>();
  /** How far the events of each zone reach. */
  readonly zoneEnds: ZoneEnds;

  constructor(
    { segments, blobFiles }: { readonly segments: readonly Segment[]; readonly blobFiles: readonly BlobFile[] },
    endSequence: bigint,
    onRetired: (part: Retired) => void,
  ) {
    this.#segments = segments;
    this.zoneEnds = new ZoneEnds(segments);
    this.#blobFiles = blobFiles;
    this.#endSequence = endSequence;
    this.#onRetired = onRetired;
  }

  get growingSegments(): readonly GrowingSegment[] {
    return this.#growingSegments;
  }

  get endSequence(): bigint {
    return this.#endSequence;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get blobFiles(): readonly BlobFile[] {
    return this.#blobFiles;
  }

  /** Makes the events below `endSequence`, which are of these zones, visible to the snapshots from here on. */
  advance(endSequence: bigint, zones: readonly number[]): void {
    this.zoneEnds.reach(zones, endSequence - 1n);
    this.#endSequence = endSequence;
    for (const listener of this.#listeners) {
      // On its own: what goes wrong in a listener is no failure of the batch that it is told of.
      queueMicrotask(listener);
    }
  }

  /** Calls `listener` soon after every advance; returns how to stop that. */
  onAdvance(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  exchange(change: {
    readonly addGrowing?: GrowingSegment;
    readonly removeGrowing?: readonly GrowingSegment[];
    readonly addSegments?: readonly Segment[];
    readonly removeSegments?: readonly Segment[];
    readonly addBlobFile?: BlobFile;
    readonly removeBlobFiles?: readonly BlobFile[];
  }): void {
    const { addGrowing, removeGrowing = [], addSegments = [], removeSegments = [], addBlobFile, removeBlobFiles = [] } = change;
    const gone = new Set<Part>([...removeSegments, ...removeGrowing, ...removeBlobFiles]);
    this.#growingSegments = [...this.#growingSegments, ...(addGrowing ? [addGrowing] : [])].filter((part) => !gone.has(part));
    this.#segments = [...this.#segments, ...addSegments].filter((segment) => !gone.has(segment));
    this.#blobFiles = [...this.#blobFiles, ...(addBlobFile ? [addBlobFile] : [])].filter((blobFile) => !gone.has(blobFile));
    for (const part of gone) {
      this.#leaving.add(part);
      this.#retireIfUnread(part);
    }
  }

  snapshot(): Snapshot {
    const [growingSegments, segments, blobFiles, endSequence] = [this.#growingSegments, this.#segments, this.#blobFiles, this.#endSequence];
    const release = this.acquire([...growingSegments, ...segments, ...blobFiles]);
    return { growingSegments, segments, blobFiles, endSequence, release };
  }

  /** Keeps these readable until what is returned is called. All of them are live. */
  acquire(parts: readonly Part[]): () => void {
    for (const part of parts) {
      this.#readers.set(part, (this.#readers.get(part) ?? 0) + 1);
    }
    let released = false;
    return () => {
      if (released) {
        return;
      }
      released = true;
      for (const part of parts) {
        this.#leave(part);
      }
    };
  }

  #leave(part: Part): void {
    const readers = (this.#readers.get(part) ?? 1) - 1;
    if (readers > 0) {
      this.#readers.set(part, readers);
      return;
    }
    this.#readers.delete(part);
    this.#retireIfUnread(part);
  }

  #retireIfUnread(part: Part): void {
    if (this.#readers.has(part) || !this.#leaving.delete(part)) {
      return;
    }
    this.#onRetired('file' in part ? { growingSegments: [], files: [part] } : { growingSegments: [part], files: [] });
  }
}

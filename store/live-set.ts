import type { HotTable } from './hot-table.ts';
import type { Segment } from './segment.ts';

/** What a search reads: it stays readable until released, whatever is sealed, compacted or dropped meanwhile. */
export interface Snapshot {
  readonly hotTables: readonly HotTable[];
  readonly segments: readonly Segment[];
  /** Events with this sequence or a higher one in a hot table came after the snapshot. */
  readonly endSequence: bigint;
  release(): void;
}

export interface Retired {
  readonly hotTables: readonly HotTable[];
  readonly segments: readonly Segment[];
}

type Part = HotTable | Segment;

/**
 * The hot tables and segments that hold the events right now, each event in exactly one of them. Parts are exchanged in one step;
 * a part that was taken out is handed to `onRetired` once no snapshot holds it any more.
 */
export class LiveSet {
  #hotTables: readonly HotTable[] = [];
  #segments: readonly Segment[] = [];
  #endSequence: bigint;
  readonly #readers = new Map<Part, number>();
  readonly #leaving = new Set<Part>();
  readonly #onRetired: (part: Retired) => void;

  constructor(segments: readonly Segment[], endSequence: bigint, onRetired: (part: Retired) => void) {
    this.#segments = segments;
    this.#endSequence = endSequence;
    this.#onRetired = onRetired;
  }

  get hotTables(): readonly HotTable[] {
    return this.#hotTables;
  }

  get endSequence(): bigint {
    return this.#endSequence;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** Makes the events below `endSequence` visible to the snapshots from here on. */
  advance(endSequence: bigint): void {
    this.#endSequence = endSequence;
  }

  exchange(change: {
    readonly addHot?: HotTable;
    readonly removeHot?: readonly HotTable[];
    readonly addSegments?: readonly Segment[];
    readonly removeSegments?: readonly Segment[];
  }): void {
    const { addHot, removeHot = [], addSegments = [], removeSegments = [] } = change;
    const gone = new Set<Part>([...removeSegments, ...removeHot]);
    this.#hotTables = [...this.#hotTables, ...(addHot ? [addHot] : [])].filter((table) => !gone.has(table));
    this.#segments = [...this.#segments, ...addSegments].filter((segment) => !gone.has(segment));
    for (const part of gone) {
      this.#leaving.add(part);
      this.#retireIfUnread(part);
    }
  }

  snapshot(): Snapshot {
    const [hotTables, segments, endSequence] = [this.#hotTables, this.#segments, this.#endSequence];
    const parts: Part[] = [...hotTables, ...segments];
    for (const part of parts) {
      this.#readers.set(part, (this.#readers.get(part) ?? 0) + 1);
    }
    let released = false;
    const release = () => {
      if (released) {
        return;
      }
      released = true;
      for (const part of parts) {
        this.#leave(part);
      }
    };
    return { hotTables, segments, endSequence, release };
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
    this.#onRetired('file' in part ? { hotTables: [], segments: [part] } : { hotTables: [part], segments: [] });
  }
}

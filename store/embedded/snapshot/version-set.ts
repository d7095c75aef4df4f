import { type FeedZones, zonesAmong } from '../../../query/plan/feed-zones.ts';
import type { TimeWindow, ZoneSelection } from '../../../query/plan/search-plan.ts';
import { RefCounted } from '../runtime/ref-counted.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { type DamagedSegment, overlaps, rowsOfZones, type Segment } from '../segment/segment.ts';
import type { GrowingSegment } from './growing-segment.ts';

/** The parts that one search reads. They stay readable until it is disposed, even where they are flushed, merged or expire meanwhile. */
export interface Snapshot extends Disposable {
  readonly growingSegments: readonly GrowingSegment[];
  readonly segments: readonly Segment[];
  readonly blobFiles: readonly BlobFile[];
  /** Unflushed events from this sequence on came after the snapshot. */
  readonly endSequence: bigint;
  /** How often events had gone since the start: expired or unreadable. Between two snapshots with the same number, events only came. */
  readonly expiries: number;
}

/** A file of the segments folder, or unflushed events. */
export type Part = GrowingSegment | Segment | BlobFile;

/**
 * The growing segments and segments that hold the events right now, each event in exactly one of them, and the blob files with the logs of
 * flushed events. Parts are exchanged in one step. A part that was taken out is handed to `onRetired` once no snapshot holds it.
 */
export class VersionSet {
  #growingSegments: readonly GrowingSegment[] = [];
  #segments: readonly Segment[];
  #damaged: readonly DamagedSegment[];
  #blobFiles: readonly BlobFile[];
  #endSequence: bigint;
  #expiries = 0;
  readonly #references = new Map<Part, RefCounted>();
  readonly #onRetired: (part: Part) => void;
  readonly #listeners = new Set<() => void>();
  /** How far the events of each zone reach. */
  readonly zoneEnds: ZoneEnds;

  constructor(
    { segments, blobFiles }: { readonly segments: readonly Segment[]; readonly blobFiles: readonly BlobFile[] },
    endSequence: bigint,
    onRetired: (part: Part) => void,
  ) {
    this.#segments = segments.filter(({ damage }) => damage === undefined);
    this.#damaged = segments.flatMap((segment) => (segment.damage === undefined ? [] : [{ segment, fault: segment.damage }]));
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

  /** The segments that no snapshot has, because they are damaged or missing. */
  get damaged(): readonly DamagedSegment[] {
    return this.#damaged;
  }

  /** The most events of the zones that lie in the parts of the window. */
  mostEvents(zones: ZoneSelection, { fromMs, toMs }: TimeWindow): number {
    const isAsked = ({ zones: own }: GrowingSegment) => zones === 'all' || zones.some((zone) => own.has(zone));
    const segments = this.#segments.filter((segment) => overlaps(segment, fromMs, toMs));
    const growing = this.#growingSegments.filter((part) => overlaps(part, fromMs, toMs) && isAsked(part));
    return segments.reduce((sum, segment) => sum + rowsOfZones(segment, zones), 0) + growing.reduce((sum, { events }) => sum + events, 0);
  }

  /** The most events of the zones in the window that cannot be read. */
  unreadableEvents(zones: ZoneSelection, { fromMs, toMs }: TimeWindow): number {
    return this.#unreadable(zones, (segment) => overlaps(segment, fromMs, toMs));
  }

  /** The most events of the zones between two sequences, both inclusive, that cannot be read. */
  unreadableBetween(zones: FeedZones, first: bigint, last: bigint): number {
    return this.#unreadable(zones, ({ minSequence, maxSequence }) => maxSequence >= first && minSequence <= last);
  }

  #unreadable(zones: FeedZones, isWanted: (segment: Segment) => boolean): number {
    return this.#damaged.reduce((sum, { segment }) => sum + (isWanted(segment) ? mostRowsOf(segment, zones) : 0), 0);
  }

  /** Makes the events below `endSequence`, which are of these zones, visible to the snapshots from here on. */
  advance(endSequence: bigint, zones: readonly number[]): void {
    this.zoneEnds.reach(zones, endSequence - 1n);
    this.#endSequence = endSequence;
    for (const listener of this.#listeners) {
      // Each listener is called in a microtask of its own, so that its error is no failure of the batch that it is told of.
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
    /** Segments that are damaged: their files stay, and no later snapshot has them. */
    readonly damageSegments?: readonly DamagedSegment[];
    readonly addBlobFile?: BlobFile;
    readonly removeBlobFiles?: readonly BlobFile[];
  }): void {
    const { addGrowing, removeGrowing = [], addSegments = [], removeSegments = [], addBlobFile, removeBlobFiles = [] } = change;
    const lost = addSegments.flatMap((segment) => (segment.damage === undefined ? [] : [{ segment, fault: segment.damage }]));
    const damageSegments = [...(change.damageSegments ?? []), ...lost];
    const damaged = new Set(damageSegments.map(({ segment }) => segment));
    const gone = new Set<Part>([...removeSegments, ...removeGrowing, ...removeBlobFiles]);
    // Events are gone where segments are removed and none are added; a merge adds some in their place.
    this.#expiries += (removeSegments.length > 0 && addSegments.length === 0) || damageSegments.length > 0 ? 1 : 0;
    this.#growingSegments = [...this.#growingSegments, ...(addGrowing ? [addGrowing] : [])].filter((part) => !gone.has(part));
    this.#segments = [...this.#segments, ...addSegments].filter((segment) => !gone.has(segment) && !damaged.has(segment));
    this.#damaged = [...this.#damaged, ...damageSegments].filter(({ segment }) => !gone.has(segment));
    this.#blobFiles = [...this.#blobFiles, ...(addBlobFile ? [addBlobFile] : [])].filter((blobFile) => !gone.has(blobFile));
    for (const part of gone) {
      this.#referencesOf(part).release();
    }
  }

  snapshot(): Snapshot {
    const [growingSegments, segments, blobFiles, endSequence] = [this.#growingSegments, this.#segments, this.#blobFiles, this.#endSequence];
    return this.again({ growingSegments, segments, blobFiles, endSequence, expiries: this.#expiries });
  }

  /** A snapshot that somebody holds, for another one who disposes it by himself. */
  again({ growingSegments, segments, blobFiles, endSequence, expiries }: Omit<Snapshot, typeof Symbol.dispose>): Snapshot {
    const held = this.acquire([...growingSegments, ...segments, ...blobFiles]);
    return { growingSegments, segments, blobFiles, endSequence, expiries, ...held };
  }

  /** Keeps these live parts readable until it is disposed, for the first time. */
  acquire(parts: readonly Part[]): Disposable {
    const references = parts.map((part) => this.#referencesOf(part));
    for (const reference of references) {
      reference.acquire();
    }
    return {
      [Symbol.dispose]: () => {
        for (const reference of references.splice(0)) {
          reference.release();
        }
      },
    };
  }

  /** The users of a live part: the version set itself, and the snapshots that hold it. */
  #referencesOf(part: Part): RefCounted {
    let references = this.#references.get(part);
    if (references === undefined) {
      references = new RefCounted(() => {
        this.#references.delete(part);
        this.#onRetired(part);
      });
      this.#references.set(part, references);
    }
    return references;
  }
}

/** The most events of the zones in a segment. One that stands for a lost journal may not know its zones. */
function mostRowsOf(segment: Segment, zones: FeedZones): number {
  return segment.zoneRows.size === 0 ? segment.rows : rowsOfZones(segment, zones);
}

/** The last sequence at which each zone may have events. A reader that has come as far needs to read nothing to know it. */
export class ZoneEnds {
  readonly #ends = new Map<number, bigint>();

  constructor(segments: readonly Pick<Segment, 'zoneRows' | 'maxSequence'>[]) {
    for (const { zoneRows, maxSequence } of segments) {
      this.reach(zoneRows.keys(), maxSequence);
    }
  }

  reach(zones: Iterable<number>, sequence: bigint): void {
    for (const zone of zones) {
      if ((this.#ends.get(zone) ?? 0n) < sequence) {
        this.#ends.set(zone, sequence);
      }
    }
  }

  /** The highest of the zones' ends; 0 where they have no events at all. */
  of(zones: FeedZones): bigint {
    let highest = 0n;
    for (const zone of zonesAmong(zones, this.#ends.keys())) {
      const end = this.#ends.get(zone) ?? 0n;
      highest = end > highest ? end : highest;
    }
    return highest;
  }
}

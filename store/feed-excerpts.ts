import { areNamed } from '../query/plan/feed-zones.ts';
import { type WantedEvents, wantedKey } from '../query/plan/wanted-events.ts';
import { SerialQueue } from '../work/serial-queue.ts';
import { BudgetedCache } from './budgeted-cache.ts';
import type { FeedLine } from './event-store.ts';
import { MAX_FEED_EXCERPTS } from './memory-shares.ts';

/** The most events of a page: more would keep the main thread for too long. */
export const PAGE_EVENTS = 8_192;
/** The most bytes of a page's events and logs together; a single event may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** A piece of the feed: all wanted events up to `lastSequence`. */
export interface FeedPiece {
  readonly lines: readonly FeedLine[];
  readonly lastSequence: bigint;
  /** About how many events of the zones were looked at for it. */
  readonly lookedAt: number;
}

/** An excerpt of the feed has all its wanted events with a sequence above `after` and up to `upTo`. */
interface ExcerptBounds {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** The events that an excerpt is made of, or the first of them where these are too many. */
interface ExcerptRange extends ExcerptBounds, WantedEvents {}

/** What a reader wants, with the zones in the one order by which excerpts of the same zones are found again. */
export function distinctWanted({ zones, where, logs = true }: WantedEvents): WantedEvents {
  const distinct = areNamed(zones) ? [...new Set(zones)].sort((one, other) => one - other) : zones;
  return where === undefined || where.kind === 'everything' ? { zones: distinct, logs } : { zones: distinct, where, logs };
}

/** The excerpt of a reader that does not come back within this time is dropped. */
const IDLE_MS = 10_000;

interface Entry<Excerpt> {
  /** Tells its wanted from others. */
  readonly key: string;
  readonly excerpt: Promise<Excerpt>;
  readonly after: bigint;
  /** The end of the range until the excerpt is made, then that of the excerpt. */
  upTo: bigint;
  isMade: boolean;
  /** Ticks of the timer since its last use. */
  idleTicks: number;
}

/** Holds the excerpts that readers of the feed are in: a few, made and being made, because they take memory. */
export class FeedExcerpts<Range extends ExcerptRange, Excerpt extends ExcerptBounds> {
  readonly #make: (range: Range) => Promise<Excerpt>;
  /** One excerpt is made at a time, because making it takes more than twice the memory that it keeps. */
  readonly #making = new SerialQueue();
  /** An entry used within the last tick makes no room: readers that evict each other's excerpts would make an excerpt for every page. */
  readonly #entries = new BudgetedCache<Entry<Excerpt>, Entry<Excerpt>>({
    budget: MAX_FEED_EXCERPTS,
    sizeOf: () => 1,
    canEvict: ({ idleTicks }) => idleTicks > 0,
  });
  #timer: NodeJS.Timeout | undefined;

  constructor(make: (range: Range) => Promise<Excerpt>) {
    this.#make = make;
  }

  /** The excerpt with the events behind `after`, if there is one. It may turn out to end before. */
  find(wanted: WantedEvents, after: bigint): Promise<Excerpt> | undefined {
    const entry = this.#entryOf(wanted, after);
    if (entry === undefined) {
      return undefined;
    }
    this.#entries.use(entry);
    entry.idleTicks = 0;
    return entry.excerpt;
  }

  /** Makes an excerpt of a range, and drops the one used longest ago for it. Returns undefined where all of them were used lately. */
  open(range: Range): Promise<Excerpt> | undefined {
    if (!this.#entries.makeRoom(1)) {
      return undefined;
    }
    const { after, upTo } = range;
    const excerpt = this.#making.run(() => this.#make(range));
    const entry: Entry<Excerpt> = { key: wantedKey(range), excerpt, after, upTo, isMade: false, idleTicks: 0 };
    this.#entries.add(entry, entry);
    excerpt.then(
      (made) => {
        entry.isMade = true;
        entry.upTo = made.upTo;
      },
      // The readers that wait for the excerpt get the error; the next one makes another excerpt.
      () => this.#entries.evict(entry),
    );
    this.#timer ??= setInterval(() => this.#tick(), IDLE_MS / 2).unref();
    return excerpt;
  }

  /**
   * What a reader at `after` gets of an excerpt: all that `pieceOf` finds in it. A reader that has come to its end leaves it, and for one
   * that has read a quarter of it the excerpt of the `next` range is made, unless it is there or there is no room without evicting one.
   */
  read(excerpt: Excerpt, wanted: WantedEvents, after: bigint, pieceOf: () => FeedPiece, next: () => Range | undefined): FeedPiece {
    const { after: begin, upTo } = excerpt;
    if (upTo <= after) {
      // The excerpt has fewer events than its range. The caller looks for the next one, which may have to be made.
      return { lines: [], lastSequence: after, lookedAt: 0 };
    }
    const piece = pieceOf();
    const entry = this.#entryOf(wanted, after);
    if (piece.lastSequence >= upTo) {
      if (entry !== undefined) this.#entries.evict(entry);
    } else if (4n * (piece.lastSequence - begin) >= upTo - begin) {
      const range = next();
      const hasRoom = this.#entries.values.length < MAX_FEED_EXCERPTS;
      if (range !== undefined && hasRoom && this.#entryOf(range, range.after) === undefined) void this.open(range);
    }
    return piece;
  }

  /** Waits for the excerpts that are being made. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#entries.values.map(({ excerpt }) => excerpt));
    this.#entries.evictAll();
  }

  #entryOf(wanted: WantedEvents, sequence: bigint): Entry<Excerpt> | undefined {
    const key = wantedKey(wanted);
    return this.#entries.values.find((entry) => entry.key === key && entry.after <= sequence && sequence < entry.upTo);
  }

  #tick(): void {
    for (const entry of this.#entries.values) {
      entry.idleTicks = entry.isMade ? entry.idleTicks + 1 : 0;
      if (entry.idleTicks > 2) {
        this.#entries.evict(entry);
      }
    }
    if (this.#entries.values.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

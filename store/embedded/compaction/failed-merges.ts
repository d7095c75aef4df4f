import type { Segment } from '../segment/segment.ts';

/** Segments are left alone for so long after the first failure of their merge, and for twice as long after each further one. */
const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 3_600_000;

/**
 * The segments whose merge failed, which are left alone for a while. Otherwise one that cannot be read, or events that need more memory
 * than there is, would hold up all other merges, and take cores and memory from searches over and over.
 */
export class FailedMerges {
  readonly #waits = new WeakMap<Segment, { readonly waitMs: number; readonly untilMs: number }>();

  /** Leaves the segments alone for as long as they are there. */
  leaveAlone(segments: readonly Segment[]): void {
    for (const segment of segments) {
      this.#waits.set(segment, { waitMs: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY });
    }
  }

  /** Returns for how long the segments are left alone, in milliseconds. */
  add(segments: readonly Segment[], nowMs: number): number {
    const before = segments.reduce((longest, segment) => Math.max(longest, this.#waits.get(segment)?.waitMs ?? 0), 0);
    const waitMs = Math.min(Math.max(FIRST_WAIT_MS, 2 * before), LONGEST_WAIT_MS);
    for (const segment of segments) {
      this.#waits.set(segment, { waitMs, untilMs: nowMs + waitMs });
    }
    return waitMs;
  }

  /** The segments that may be merged now. With `Number.MAX_VALUE` as the time, these are all that are not left alone for ever. */
  mergeable(segments: readonly Segment[], nowMs: number): Segment[] {
    return segments.filter((segment) => (this.#waits.get(segment)?.untilMs ?? nowMs) <= nowMs);
  }
}

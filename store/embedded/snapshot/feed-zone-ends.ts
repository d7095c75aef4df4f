import type { Segment } from '../segment/segment.ts';

/**
 * Up to which sequence a zone may have events: none is beyond. A reader that has come as far needs nothing but this to know that there is
 * nothing new for it.
 */
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
  of(zones: readonly number[] | 'all'): bigint {
    let highest = 0n;
    for (const zone of zones === 'all' ? this.#ends.keys() : zones) {
      const end = this.#ends.get(zone) ?? 0n;
      highest = end > highest ? end : highest;
    }
    return highest;
  }
}

/** How far one run of the retention removed the events of a zone. */
export interface ExpiredWatermark {
  readonly zoneId: number;
  /** Runs that removed anything are counted from 1. */
  readonly run: number;
  /** The highest sequence that the run removed. */
  readonly sequence: bigint;
}

/**
 * What the retention has dropped, as far as a reader of the feed needs to know. A run may drop what has a higher sequence than events that
 * are kept, because an event's sequence is not its time. So a reader who starts over at the oldest kept event is behind some that were
 * dropped, and misses nothing by that: it remembers the run after which it started, and asks what later runs dropped ahead of it.
 */
export class ExpiredWatermarks {
  /** By zone, those that no later run went beyond: the runs ascend and the sequences descend. */
  readonly #byZone = new Map<number, readonly ExpiredWatermark[]>();
  #runs = 0;

  constructor(known: readonly ExpiredWatermark[] = []) {
    this.add([...known].sort((a, b) => a.run - b.run));
  }

  /** How many runs have dropped anything. */
  get runs(): number {
    return this.#runs;
  }

  /** Of runs in ascending order, each later than those known or one of them. */
  add(events: readonly ExpiredWatermark[]): void {
    for (const dropped of events) {
      const kept = (this.#byZone.get(dropped.zoneId) ?? []).filter(({ sequence }) => sequence > dropped.sequence);
      this.#byZone.set(dropped.zoneId, [...kept, dropped]);
      this.#runs = Math.max(this.#runs, dropped.run);
    }
  }

  /** The highest sequence of the zones that was dropped after the first `afterRuns` runs; 0 when none was. */
  sequence(zones: readonly number[] | 'all', afterRuns = 0): bigint {
    let highest = 0n;
    for (const zone of zones === 'all' ? this.#byZone.keys() : zones) {
      const dropped = this.#byZone.get(zone)?.find(({ run }) => run > afterRuns);
      if (dropped !== undefined && dropped.sequence > highest) {
        highest = dropped.sequence;
      }
    }
    return highest;
  }
}

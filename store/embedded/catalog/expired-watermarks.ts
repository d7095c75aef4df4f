import type { DatabaseSync } from 'node:sqlite';
import { type FeedZones, zonesAmong } from '../../../query/plan/feed-zones.ts';
import { bigintRows } from '../../sqlite-transaction.ts';

/** How far one sweep of the retention removed events of a zone. */
export interface ExpiredWatermark {
  readonly zoneId: number;
  /** Counts the sweeps that removed anything, from 1. */
  readonly sweep: number;
  /** The highest sequence that the sweep removed. */
  readonly sequence: bigint;
}

/**
 * Tells a reader of the feed whether it has missed events. The retention may remove an event with a higher sequence than one that is kept,
 * because events do not come in the order of their times. So a reader that starts at the oldest kept event remembers after how many sweeps
 * it started, and only asks for what later sweeps removed.
 */
export class ExpiredWatermarks {
  /** By zone, the watermarks that no later sweep exceeded: sweeps ascend and sequences descend. */
  readonly #byZone = new Map<number, readonly ExpiredWatermark[]>();
  #sweeps = 0;

  constructor(known: readonly ExpiredWatermark[] = []) {
    this.add([...known].sort((a, b) => a.sweep - b.sweep));
  }

  /** The number of sweeps that removed anything. */
  get sweeps(): number {
    return this.#sweeps;
  }

  /** Adds watermarks of sweeps in ascending order, none before the last sweep that was added. */
  add(events: readonly ExpiredWatermark[]): void {
    for (const dropped of events) {
      const kept = (this.#byZone.get(dropped.zoneId) ?? []).filter(({ sequence }) => sequence > dropped.sequence);
      this.#byZone.set(dropped.zoneId, [...kept, dropped]);
      this.#sweeps = Math.max(this.#sweeps, dropped.sweep);
    }
  }

  /** The highest sequence of the zones that was removed after the first `afterSweeps` sweeps; 0 where none was. */
  sequence(zones: FeedZones, afterSweeps = 0): bigint {
    let highest = 0n;
    for (const zone of zonesAmong(zones, this.#byZone.keys())) {
      const dropped = this.#byZone.get(zone)?.find(({ sweep }) => sweep > afterSweeps);
      if (dropped !== undefined && dropped.sequence > highest) {
        highest = dropped.sequence;
      }
    }
    return highest;
  }
}

/** The expired watermarks in the catalog: a row or two for each zone that retention ever removed an event of. */
export class ExpiredWatermarkTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  list(): ExpiredWatermark[] {
    return bigintRows(this.#database, 'SELECT zone_id, run, sequence FROM expired_watermarks ORDER BY run').map((row) => ({
      zoneId: Number(row['zone_id']),
      sweep: Number(row['run']),
      sequence: row['sequence'] as bigint,
    }));
  }

  /** Adds watermarks. The caller has begun the transaction that removes their events. */
  add(events: readonly ExpiredWatermark[]): void {
    const remove = this.#database.prepare('DELETE FROM expired_watermarks WHERE zone_id = ? AND sequence <= ?');
    const insert = this.#database.prepare('INSERT INTO expired_watermarks (zone_id, run, sequence) VALUES (?, ?, ?)');
    for (const { zoneId, sweep, sequence } of events) {
      remove.run(zoneId, sequence);
      insert.run(zoneId, sweep, sequence);
    }
  }
}

import type { DatabaseSync } from 'node:sqlite';
import type { ZoneSelection } from '../../../query/plan/search-plan.ts';

/** How far one run of the retention removed events of a zone. */
export interface ExpiredWatermark {
  readonly zoneId: number;
  /** Counts the runs that removed anything, from 1. */
  readonly run: number;
  /** The highest sequence that the run removed. */
  readonly sequence: bigint;
}

/**
 * Tells a reader of the feed whether it has missed events. The retention may remove an event with a higher sequence than one that is kept,
 * because events do not come in the order of their times. So a reader that starts at the oldest kept event remembers after how many runs it
 * started, and only asks for what later runs removed.
 */
export class ExpiredWatermarks {
  /** By zone, the watermarks that no later run exceeded: runs ascend and sequences descend. */
  readonly #byZone = new Map<number, readonly ExpiredWatermark[]>();
  #runs = 0;

  constructor(known: readonly ExpiredWatermark[] = []) {
    this.add([...known].sort((a, b) => a.run - b.run));
  }

  /** The number of runs that removed anything. */
  get runs(): number {
    return this.#runs;
  }

  /** Adds watermarks of runs in ascending order, none before the last run that was added. */
  add(events: readonly ExpiredWatermark[]): void {
    for (const dropped of events) {
      const kept = (this.#byZone.get(dropped.zoneId) ?? []).filter(({ sequence }) => sequence > dropped.sequence);
      this.#byZone.set(dropped.zoneId, [...kept, dropped]);
      this.#runs = Math.max(this.#runs, dropped.run);
    }
  }

  /** The highest sequence of the zones that was removed after the first `afterRuns` runs; 0 where none was. */
  sequence(zones: ZoneSelection, afterRuns = 0): bigint {
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

/** The expired watermarks in the catalog: a row or two for each zone that retention ever removed an event of. */
export class ExpiredWatermarkTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  list(): ExpiredWatermark[] {
    const statement = this.#database.prepare('SELECT zone_id, run, sequence FROM expired_watermarks ORDER BY run');
    statement.setReadBigInts(true);
    return statement.all().map((row) => ({
      zoneId: Number(row['zone_id']),
      run: Number(row['run']),
      sequence: row['sequence'] as bigint,
    }));
  }

  /** Adds watermarks. The caller has begun the transaction that removes their events. */
  add(events: readonly ExpiredWatermark[]): void {
    const remove = this.#database.prepare('DELETE FROM expired_watermarks WHERE zone_id = ? AND sequence <= ?');
    const insert = this.#database.prepare('INSERT INTO expired_watermarks (zone_id, run, sequence) VALUES (?, ?, ?)');
    for (const { zoneId, run, sequence } of events) {
      remove.run(zoneId, sequence);
      insert.run(zoneId, run, sequence);
    }
  }
}

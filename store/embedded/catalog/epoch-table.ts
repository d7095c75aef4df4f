import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { bigintRows, inTransaction } from '../../sqlite-transaction.ts';
import { writeStateChecksum } from './row-checksums.ts';

/** What one start of the store gave, until the next one. A copy of the folder that is started elsewhere gives events of another epoch. */
export interface Epoch {
  /** 32 random bits; the first epoch has those of the store. */
  readonly epoch: number;
  /** The first sequence that it gives. */
  readonly firstSequence: bigint;
  /** How many sweeps of the retention there were before it. */
  readonly sweeps: number;
}

/** Older epochs are forgotten, so that a program that cannot stay up does not fill its catalog. */
export const MAX_EPOCHS = 1_000;

/** The epochs in the catalog, by which the feed tells whether its events are those that a reader has read. */
export class EpochTable {
  readonly #database: DatabaseSync;
  readonly #change: (work: () => void) => void;
  #epochs: readonly Epoch[];
  /** Where the epoch of this start begins, until it is drawn. */
  #undrawn: Omit<Epoch, 'epoch'> | undefined;

  constructor(database: DatabaseSync, change: (work: () => void) => void = (work) => inTransaction(database, work)) {
    this.#database = database;
    this.#change = change;
    this.#epochs = bigintRows(database, 'SELECT epoch, first_sequence, runs FROM epochs ORDER BY number').map((row) => ({
      epoch: Number(row['epoch']),
      firstSequence: row['first_sequence'] as bigint,
      sweeps: Number(row['runs']),
    }));
  }

  /** The epochs in the order in which they began; there is at least one. */
  list(): readonly Epoch[] {
    return this.#epochs;
  }

  /** Says where the epoch of this start begins. It counts once it is drawn. */
  prepare(start: Omit<Epoch, 'epoch'>): void {
    this.#undrawn = start;
  }

  /**
   * Draws the epoch of this start, if it is not drawn yet; durable when it returns. It comes before the first change that another start on
   * a copy of the folder would not make: before a sequence is given, and before the retention removes an event.
   */
  begin(): void {
    if (this.#undrawn === undefined) {
      return;
    }
    const begun = { epoch: this.#draw(), ...this.#undrawn };
    this.#change(() => {
      this.#database
        .prepare('INSERT INTO epochs (epoch, first_sequence, runs) VALUES (?, ?, ?)')
        .run(begun.epoch, begun.firstSequence, begun.sweeps);
      this.#database.prepare('DELETE FROM epochs WHERE number <= (SELECT max(number) FROM epochs) - ?').run(MAX_EPOCHS);
      writeStateChecksum(this.#database);
    });
    this.#epochs = [...this.#epochs, begun].slice(-MAX_EPOCHS);
    this.#undrawn = undefined;
  }

  #draw(): number {
    for (;;) {
      const drawn = randomBytes(4).readUInt32BE();
      if (this.#epochs.every(({ epoch }) => epoch !== drawn)) {
        return drawn;
      }
    }
  }
}

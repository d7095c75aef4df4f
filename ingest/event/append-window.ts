import type { AppendReceipt, EventBatch, EventStore } from '../../store/event-store.ts';

/**
 * Backpressure: no source reads on while more bytes than these wait to be stored, however many uploads and partitions there are, so that
 * they do not fill the memory together. An upload is read no further, a partition of Kafka is paused; neither is refused.
 */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/** Hands batches to the store, a few at the same time, so that writing one overlaps with loading another. */
export class AppendWindow {
  readonly #store: EventStore;
  readonly #size: number;
  readonly #underWay = new Set<Promise<void>>();
  #failures: unknown[] = [];
  #duplicates: number | null = 0;

  constructor(store: EventStore, size: number) {
    this.#store = store;
    this.#size = size;
  }

  get hasRoom(): boolean {
    return this.#underWay.size < this.#size;
  }

  /** Events of the stored batches that the store had already; null where it finds them later. */
  get duplicates(): number | null {
    return this.#duplicates;
  }

  /**
   * Hands a batch over without waiting for it. `onStored` is called when it is stored, `onSettled` when the store has done with it, stored
   * or not.
   */
  start(batch: EventBatch, onStored: (receipt: AppendReceipt) => void, onSettled: () => void): void {
    const append: Promise<void> = this.#store
      .append(batch)
      .then(
        (receipt) => {
          const { duplicates } = receipt;
          this.#duplicates = this.#duplicates === null || duplicates === null ? null : this.#duplicates + duplicates;
          onStored(receipt);
        },
        (error: unknown) => {
          this.#failures.push(error);
        },
      )
      .finally(() => {
        this.#underWay.delete(append);
        onSettled();
      });
    this.#underWay.add(append);
  }

  /** Resolves once there is room for one more batch. Rejects with the first error of an append. */
  async room(): Promise<void> {
    while (!this.hasRoom) {
      await Promise.race(this.#underWay);
    }
    this.#throwFailure();
  }

  /** Resolves once all is durable. Rejects with the first error of an append, when none is under way any more. */
  async drained(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failures.length > 0) {
      throw this.#failures[0];
    }
  }
}

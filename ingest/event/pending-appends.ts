import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendReceipt, EventStore } from '../../store/event-store.ts';

/**
 * Backpressure: no source reads on while more bytes than these wait to be stored, however many uploads and partitions there are, so that
 * they do not fill the memory together. An upload is read no further, a partition of Kafka is paused; neither is refused.
 */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/** How often what waits for the store asks whether it has room. */
const STORE_POLL_MS = 20;

/** Waits until the store has fewer pending bytes. Rejects with the signal's reason. */
export async function storeHasRoom(store: Pick<EventStore, 'pendingBytes'>, signal: AbortSignal | undefined): Promise<void> {
  while (store.pendingBytes() > MAX_PENDING_BYTES) {
    await sleep(STORE_POLL_MS);
    signal?.throwIfAborted();
  }
}

/** One batch is loaded and one is written to the journal; a third is ready, so that neither step waits. A fourth is collected. */
const MAX_APPENDS = 3;

/** What is done after an append. */
interface AfterAppend {
  readonly onStored?: (receipt: AppendReceipt) => void;
  /** Absent: `room` and `drained` reject with the error. */
  readonly onFailed?: (error: Error) => void;
  /** The store has done with the batch, stored or not. */
  readonly onSettled: () => void;
}

/** The appends of one source that are under way: a few at the same time, so that writing one batch overlaps with loading another. */
export class PendingAppends {
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: Error[] = [];
  #duplicates: number | null = 0;

  get hasRoom(): boolean {
    return this.#underWay.size < MAX_APPENDS;
  }

  /** Events of the stored batches that the store had already; null where it finds them later. */
  get duplicates(): number | null {
    return this.#duplicates;
  }

  /** Keeps an append that the store has begun, and does not wait for it. */
  add(begun: Promise<AppendReceipt>, { onStored, onFailed = (error) => this.#failures.push(error), onSettled }: AfterAppend): void {
    const append: Promise<void> = begun
      .then((receipt) => {
        const { duplicates } = receipt;
        this.#duplicates = this.#duplicates === null || duplicates === null ? null : this.#duplicates + duplicates;
        onStored?.(receipt);
      }, onFailed)
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

  /** Resolves when no append is under way. Rejects with the first error of one. */
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

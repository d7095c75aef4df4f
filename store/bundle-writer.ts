import { Piscina } from 'piscina';
import { type BundleOrder, writeBundleFile } from './bundle-file.ts';

/** Fewer logs are written where they are: a thread takes longer to start. */
const FEW_LOGS = 2_000;
const IDLE_MS = 60_000;

/** Writes bundles in a thread of its own, which starts when there is much to write, and ends when there has been nothing for a minute. */
export class BundleWriter {
  #pool: Piscina<BundleOrder, void> | undefined;

  async write(order: BundleOrder): Promise<void> {
    if (order.rows.length < FEW_LOGS) {
      writeBundleFile(order);
      return;
    }
    this.#pool ??= new Piscina({
      filename: new URL('./bundle-thread.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
    });
    await this.#pool.run(order);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }
}

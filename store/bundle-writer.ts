import { BackgroundThread } from './background-thread.ts';
import { type BundleOrder, writeBundleFile } from './bundle-file.ts';

/** Fewer logs are written where they are: a thread takes longer to start. */
const FEW_LOGS = 2_000;

/** Writes bundles, those of many logs in a thread of its own. */
export class BundleWriter {
  readonly #thread = new BackgroundThread<BundleOrder, void>(new URL('./bundle-thread.ts', import.meta.url));

  async write(order: BundleOrder): Promise<void> {
    if (order.rows.length < FEW_LOGS) {
      writeBundleFile(order);
    } else {
      await this.#thread.run(order);
    }
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

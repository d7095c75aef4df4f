import { BackgroundThread } from '../runtime/background-thread.ts';
import { type BlobFileOrder, writeBlobFile } from './write-blob-file.ts';

/** Fewer logs are written where they are: a thread takes longer to start. */
const FEW_LOGS = 2_000;

/** Writes blob files, those of many logs in a thread of its own. */
export class BlobFileWriter {
  readonly #thread = new BackgroundThread<BlobFileOrder, void>(new URL('./blob-file-thread.ts', import.meta.url));

  async write(order: BlobFileOrder): Promise<void> {
    if (order.rows.length < FEW_LOGS) {
      writeBlobFile(order);
    } else {
      await this.#thread.run(order);
    }
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

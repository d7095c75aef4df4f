import { execFile } from 'node:child_process';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** A pipe in place of a file: the statement that reads it waits for its bytes, and is running meanwhile. */
export class HeldFile {
  readonly path: string;
  readonly #source: string;
  #keptOpen: FileHandle | undefined;

  private constructor(path: string, source: string) {
    this.path = path;
    this.#source = source;
  }

  static async over(source: string): Promise<HeldFile> {
    const path = `${source}.pipe`;
    await promisify(execFile)('mkfifo', [path]);
    return new HeldFile(path, source);
  }

  /** Resolves with true once the statement reads, with false where it has ended before. */
  async isRead(statement: Promise<unknown>): Promise<boolean> {
    let ended = false;
    const end = (): void => {
      ended = true;
    };
    statement.then(end, end);
    while (!ended) {
      // Opening for writing blocks until there is a reader, who may never come. This fails instead.
      const file = await open(this.path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
      if (file !== undefined) {
        this.#keptOpen = file;
        return true;
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return false;
  }

  /** Gives the reader the bytes. */
  async give(): Promise<void> {
    try {
      if (this.#keptOpen !== undefined) {
        const blocking = createWriteStream(this.path, { flags: 'w' });
        blocking.once('open', () => void this.#keptOpen?.close());
        await pipeline(createReadStream(this.#source), blocking);
      }
    } finally {
      await rm(this.path, { force: true });
    }
  }
}

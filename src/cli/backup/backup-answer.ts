import { ChunkReader } from '../../../ingest/upload/compressed-frames.ts';
import { NEWLINE } from '../../../query/json-bytes.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import type { SentFile } from './backup-folder.ts';

/** The first line of an answer. */
export interface BackupHead {
  readonly store: number;
  readonly events: number;
  readonly files: readonly (SentFile & { readonly sent: boolean })[];
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Reads the answer of a program from its first byte to its last. Throws DeliveryError where it breaks off, or is something else. */
export class BackupAnswer {
  readonly #input: ChunkReader;
  readonly #from: string;

  /** `from` names the program in messages. */
  constructor(body: AsyncIterable<Buffer>, from: string) {
    this.#input = new ChunkReader(body);
    this.#from = from;
  }

  async head(): Promise<BackupHead> {
    const head = (await this.#line()) as Partial<BackupHead>;
    const isFile = ({ name, bytes, sent }: Readonly<Record<string, unknown>>) =>
      typeof name === 'string' && Number.isSafeInteger(bytes) && typeof sent === 'boolean';
    if (typeof head.store !== 'number' || typeof head.events !== 'number' || !Array.isArray(head.files) || !head.files.every(isFile)) {
      throw new DeliveryError('refused', `${this.#from} is no shieldlog`);
    }
    return head as BackupHead;
  }

  /** The next bytes; all of them have to be read. */
  async *bytes(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      const part = await this.#next(left);
      left -= part.length;
      yield part;
    }
  }

  /** Throws where the answer does not say that it is whole. */
  async end(): Promise<void> {
    if ((await this.#line())['whole'] !== true) throw this.#brokeOff();
  }

  async close(): Promise<void> {
    await this.#input.close();
  }

  async #line(): Promise<Readonly<Record<string, unknown>>> {
    const pieces: Uint8Array[] = [];
    for (let size = 0; size < MAX_LINE_BYTES; ) {
      const chunk = await this.#next();
      const end = chunk.indexOf(NEWLINE);
      const piece = end === -1 ? chunk : chunk.subarray(0, end);
      if (end !== -1 && end + 1 < chunk.length) this.#input.putBack(chunk.subarray(end + 1));
      pieces.push(piece);
      size += piece.length;
      if (end !== -1) return this.#parse(Buffer.concat(pieces).toString());
    }
    throw new DeliveryError('refused', `${this.#from} is no shieldlog: its first line does not end`);
  }

  #parse(text: string): Readonly<Record<string, unknown>> {
    try {
      return Object(JSON.parse(text));
    } catch (error) {
      throw new DeliveryError('refused', `${this.#from} is no shieldlog: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The next bytes, at least one and at most so many. */
  async #next(mostBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const chunk = await this.#input.next();
    if (chunk === undefined) throw this.#brokeOff();
    if (chunk.length > mostBytes) this.#input.putBack(chunk.subarray(mostBytes));
    return chunk.subarray(0, mostBytes);
  }

  #brokeOff(): DeliveryError {
    return new DeliveryError('unavailable', `the answer of ${this.#from} broke off`);
  }
}

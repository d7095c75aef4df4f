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
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #from: string;
  #rest: Buffer = Buffer.alloc(0);

  /** `from` names the program in messages. */
  constructor(body: AsyncIterable<Buffer>, from: string) {
    this.#chunks = body[Symbol.asyncIterator]();
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
  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Throws where the answer does not say that it is whole. */
  async end(): Promise<void> {
    if ((await this.#line())['whole'] !== true) throw this.#brokeOff();
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #line(): Promise<Readonly<Record<string, unknown>>> {
    const pieces: Buffer[] = [];
    for (let size = 0; size < MAX_LINE_BYTES; ) {
      if (this.#rest.length === 0) await this.#more();
      const end = this.#rest.indexOf(NEWLINE);
      const piece = end === -1 ? this.#rest : this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end === -1 ? piece.length : end + 1);
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

  async #more(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw this.#brokeOff();
    this.#rest = value;
  }

  #brokeOff(): DeliveryError {
    return new DeliveryError('unavailable', `the answer of ${this.#from} broke off`);
  }
}

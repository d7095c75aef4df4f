import { availableParallelism } from 'node:os';
import { abortable } from '../../work/abortable.ts';
import { WorkerPool } from '../../work/worker-pool.ts';
import type { MappedValue, Mapping } from '../mapping/mapping.ts';
import type { NamedMappings } from '../mapping/named-mappings.ts';
import { type MappedPiece, mapPiece, type RecordBatch, transferListOf } from './mapped-pieces.ts';

/** So much is mapped on the main thread, because waking or starting another takes longer. */
export const MAX_BYTES_HERE = 16 * 1024;
const MAX_THREADS = 4;
/** Batches beyond the number of threads that are under way, so that no thread waits for the next. */
const MAX_AHEAD = 2;
/** The most that the heap of a thread may take, in MiB. */
export const HEAP_MB = 128;

/** Maps records of other products, most of them on threads. All that take in records share it. */
export class MappingThreads {
  readonly mappings: NamedMappings;
  readonly #count = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #pool: WorkerPool<RecordBatch, MappedPiece, ReadonlyMap<string, Mapping>>;
  #underWay = 0;
  readonly #waiting = new Set<() => void>();

  constructor(mappings: NamedMappings) {
    this.mappings = mappings;
    const plain = new Map([...mappings].map(([name, { mapping }]) => [name, mapping]));
    const unpacking = new Set([...plain].filter(([, mapping]) => unpacks(mapping)).map(([name]) => name));
    this.#pool = new WorkerPool({
      module: new URL('./mapped-pieces.ts', import.meta.url),
      data: plain,
      maxThreads: this.#count,
      heapMb: HEAP_MB,
      inline: {
        fits: ({ bytes, mapping }) => bytes.length <= MAX_BYTES_HERE && !unpacking.has(mapping),
        run: (batch) => mapPiece(batch, plain.get(batch.mapping)!),
      },
    });
  }

  /** Whether a batch would be mapped soon: as many as there are threads are under way, and a few more, each until it is taken in. */
  get hasRoom(): boolean {
    return this.#underWay < this.#count + MAX_AHEAD;
  }

  /**
   * Waits for room, and begins to map a batch. Resolves with what becomes of its records, which is to be disposed once it is taken in, or
   * given up. Rejects with the signal's reason where it is aborted before there is room.
   */
  async begin(batch: RecordBatch, signal?: AbortSignal): Promise<UnderWay> {
    while (!this.hasRoom) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await (signal === undefined ? promise : abortable(promise, signal)).finally(() => this.#waiting.delete(resolve));
    }
    this.#underWay += 1;
    return new UnderWay(
      batch,
      (one) => this.#pool.run(one, transferListOf(one)),
      () => this.#end(),
    );
  }

  /** Ends the threads; batches under way reject. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  #end(): void {
    this.#underWay -= 1;
    const [first] = this.#waiting;
    first?.();
  }
}

/** A batch that is being mapped. */
export class UnderWay implements Disposable {
  readonly #map: (batch: RecordBatch) => Promise<MappedPiece>;
  readonly #onEnd: () => void;
  #coming: Promise<MappedPiece> | null;
  #isEnded = false;

  constructor(batch: RecordBatch, map: (batch: RecordBatch) => Promise<MappedPiece>, onEnd: () => void) {
    [this.#map, this.#onEnd] = [map, onEnd];
    this.#coming = this.#begin(batch);
  }

  /** Settles once `next` has a piece. Never rejects. */
  get made(): Promise<unknown> {
    return Promise.allSettled([this.#coming]);
  }

  /** The next piece, while the one after it is being made; null where there are no more. Rejects where the thread ends. */
  async next(): Promise<MappedPiece | null> {
    const piece = await this.#coming;
    this.#coming = piece === null || piece.rest === null || this.#isEnded ? null : this.#begin(piece.rest);
    return piece;
  }

  [Symbol.dispose](): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd();
  }

  #begin(batch: RecordBatch): Promise<MappedPiece> {
    const piece = this.#map(batch);
    // Whoever asks for the piece learns of it.
    piece.catch(() => undefined);
    return piece;
  }
}

/** Whether a record may become much more than it is: then it is mapped on a thread, however small it is. */
function unpacks({ items, fields, id, zone, leaveOut }: Mapping): boolean {
  const values = [...fields.values(), ...id, ...[zone, leaveOut].filter((value) => value !== null)];
  return [...items, ...values.flatMap(withNested)].some(({ decode }) => decode.some(({ kind }) => kind === 'gzip'));
}

function withNested(value: MappedValue): readonly MappedValue[] {
  return value.source.kind === 'first' ? [value, ...value.source.values.flatMap(withNested)] : [value];
}

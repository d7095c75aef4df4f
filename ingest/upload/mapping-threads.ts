import { availableParallelism } from 'node:os';
import { abortable } from '../../work/abortable.ts';
import { WorkerPool } from '../../work/worker-pool.ts';
import type { EnvelopeFault } from '../doors/envelope.ts';
import type { EnvelopeName } from '../doors/take-apart.ts';
import type { MappedValue, Mapping } from '../mapping/mapping.ts';
import type { NamedMappings } from '../mapping/named-mappings.ts';
import type { BatchPlace, MappedPiece, MappingTask, RecordBatch } from './mapped-pieces.ts';
import { carryOut, type EnvelopeTask, type RecordResult, type RecordTask, type TakenBody } from './record-worker.ts';
import { LARGEST_CHUNK_BYTES, SharedChunks } from './shared-chunks.ts';

/** So much is mapped on the main thread, because waking or starting another takes longer. */
export const MAX_BYTES_HERE = 16 * 1024;
/** Two are as fast as the main thread can read and take in. */
export const MAX_MAPPING_THREADS = 2;
/** Batches beyond the number of threads that are under way, so that no thread waits for the next. */
const MAX_AHEAD = 2;
/** So much of its heap the worst record takes at most, in MiB. */
export const LARGEST_RECORD_MB = 128;
/** So many times as large is the room of a piece where that of the one before it was too small. */
const GROWTH = 4;
/** The most that the heap of a thread may take, in MiB: one without room may end the process. */
const HEAP_MB = 2 * LARGEST_RECORD_MB;

/** A body that was taken apart, whose first records stand in memory that is given back when it is disposed: they are taken in by then. */
interface OpenedBody extends TakenBody, Disposable {}

/**
 * Maps records of other products, and takes the envelopes of doors apart, most of them on threads. All that take in records share it.
 */
export class MappingThreads {
  readonly mappings: NamedMappings;
  /** Memory for batches, which is given back here when they are taken in. */
  readonly chunks = new SharedChunks();
  readonly #count = Math.max(1, Math.min(MAX_MAPPING_THREADS, availableParallelism() - 1));
  readonly #pool: WorkerPool<RecordTask, RecordResult, ReadonlyMap<string, Mapping>>;
  #underWay = 0;
  readonly #waiting = new Set<() => void>();

  constructor(mappings: NamedMappings, heapMb = HEAP_MB) {
    this.mappings = mappings;
    const plain = new Map([...mappings].map(([name, { mapping }]) => [name, mapping]));
    const unpacking = new Set([...plain].filter(([, mapping]) => unpacks(mapping)).map(([name]) => name));
    this.#pool = new WorkerPool({
      module: new URL('./record-worker.ts', import.meta.url),
      data: plain,
      maxThreads: this.#count,
      heapMb,
      inline: {
        fits: (task) => {
          // Its records may be gzip of a thousand times their bytes.
          if ('envelope' in task && task.envelope === 'firehose') return false;
          const [{ length }, mapping] = 'envelope' in task ? [task.body, task.mapping?.mapping] : [task.batch.bytes, task.batch.mapping];
          return length <= MAX_BYTES_HERE && (mapping === undefined || !unpacking.has(mapping));
        },
        run: (task) => carryOut(task, plain),
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
    await this.#begin(signal);
    return new UnderWay(
      batch,
      (task) => this.#pool.run(task) as Promise<MappedPiece>,
      this.chunks,
      () => this.#end(),
    );
  }

  /**
   * Takes the envelope of a door apart and, where `how` names a mapping, maps its first records in the same task, for which it waits for
   * room as `begin` does. The bytes of the body, and a NUL behind it, cannot be used here afterwards. Rejects as `begin` does, and where
   * the thread ends.
   */
  async takeApart(
    envelope: EnvelopeName,
    body: Uint8Array<ArrayBuffer>,
    how?: Pick<RecordBatch, 'mapping' | 'zones'>,
    signal?: AbortSignal,
  ): Promise<OpenedBody | EnvelopeFault> {
    if (how === undefined) {
      const taken = await this.#taken({ envelope, body });
      return taken.kind === 'fault' ? taken : { ...taken, [Symbol.dispose]: () => undefined };
    }
    await this.#begin(signal);
    const room = this.chunks.take(roomFor(body));
    let isHeld = true;
    const giveBack = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.chunks.giveBack(room);
      this.#end();
    };
    try {
      const taken = await this.#taken({ envelope, body, mapping: { mapping: how.mapping, zones: how.zones, room } });
      if (taken.kind === 'records') return { ...taken, [Symbol.dispose]: giveBack };
      giveBack();
      return taken;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** Ends the threads; batches under way reject. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #taken(task: EnvelopeTask): Promise<TakenBody | EnvelopeFault> {
    const taken = (await this.#pool.run(task, [task.body.buffer])) as TakenBody | EnvelopeFault;
    if (taken.kind === 'fault') return taken;
    const { bytes } = taken.rest;
    // A Buffer comes from a thread as the array that it is.
    return { ...taken, rest: { ...taken.rest, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) } };
  }

  /** Waits until there is room, and takes a place of it. */
  async #begin(signal: AbortSignal | undefined): Promise<void> {
    while (!this.hasRoom) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      try {
        await (signal === undefined ? promise : abortable(promise, signal));
      } catch (error) {
        // The room that it was told of goes to another.
        if (!this.#waiting.delete(resolve)) this.#wake();
        throw error;
      }
    }
    this.#underWay += 1;
  }

  #end(): void {
    this.#underWay -= 1;
    this.#wake();
  }

  /** Tells one that waits of room, and each only once, so that two rooms wake two. */
  #wake(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    first();
  }
}

/** A batch that is being mapped. */
export class UnderWay implements Disposable {
  readonly #batch: RecordBatch;
  readonly #map: (task: MappingTask) => Promise<MappedPiece>;
  readonly #chunks: SharedChunks;
  readonly #onEnd: () => void;
  #room: Uint8Array;
  #coming: Promise<MappedPiece> | null;
  #next: BatchPlace = { record: 0, outcome: 0 };
  /** The bytes that the last piece had no room for. */
  #needsBytes = 0;
  #isEnded = false;

  /** `onEnd` is called when the batch is taken in, or given up. */
  constructor(batch: RecordBatch, map: (task: MappingTask) => Promise<MappedPiece>, chunks: SharedChunks, onEnd: () => void) {
    [this.#batch, this.#map, this.#chunks, this.#onEnd] = [batch, map, chunks, onEnd];
    this.#room = chunks.take(roomFor(batch.bytes));
    this.#coming = this.#begin();
  }

  /** Settles once `next` has a piece. Never rejects. */
  get made(): Promise<unknown> {
    return Promise.allSettled([this.#coming]);
  }

  /**
   * The next piece; null where there are no more. It stands in the memory of the one before it, which has to be taken in by then. Rejects
   * where the thread ends.
   */
  async next(): Promise<MappedPiece | null> {
    while (this.#next.record < this.#batch.ends.length) {
      this.#coming ??= this.#begin();
      const piece = await this.#coming;
      [this.#coming, this.#next, this.#needsBytes] = [null, piece.next, piece.needsBytes];
      if (piece.kinds.length > 0) return piece;
    }
    return null;
  }

  [Symbol.dispose](): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd();
    // The thread may still be at work.
    void Promise.allSettled([this.#coming]).then(() => {
      this.#chunks.giveBack(this.#room);
      this.#chunks.giveBack(this.#batch.bytes);
    });
  }

  #begin(): Promise<MappedPiece> {
    if (this.#needsBytes > 0) this.#enlargeRoom(this.#needsBytes);
    const piece = this.#map({ batch: this.#batch, from: this.#next, room: this.#room });
    // Whoever asks for the piece learns of it.
    piece.catch(() => undefined);
    return piece;
  }

  /** An envelope of which an event had no room has more of them: what is there already would be mapped again for each piece. */
  #enlargeRoom(atLeast: number): void {
    const { length } = this.#room;
    const wanted = Math.max(atLeast, Math.min(LARGEST_CHUNK_BYTES, GROWTH * length));
    if (wanted <= length) return;
    this.#chunks.giveBack(this.#room);
    this.#room = this.#chunks.take(wanted);
  }
}

/** A piece is a little larger than its records, and those of an envelope are several times as long. */
function roomFor({ length }: Uint8Array): number {
  return Math.min(LARGEST_CHUNK_BYTES, 2 * length);
}

/** Whether a record may become much more than it is: then it is mapped on a thread, however small it is. */
function unpacks({ items, fields, id, zone, leaveOut }: Mapping): boolean {
  const values = [...fields.values(), ...id, ...[zone, leaveOut].filter((value) => value !== null)];
  return [...items, ...values.flatMap(withNested)].some(({ decode }) => decode.some(({ kind }) => kind === 'gzip'));
}

function withNested(value: MappedValue): readonly MappedValue[] {
  return value.source.kind === 'first' ? [value, ...value.source.values.flatMap(withNested)] : [value];
}

import { availableParallelism } from 'node:os';
import { Semaphore } from '../../work/semaphore.ts';
import { ThreadEnded, WorkerPool } from '../../work/worker-pool.ts';
import type { EnvelopeFault } from '../doors/envelope.ts';
import type { EnvelopeName } from '../doors/take-apart.ts';
import { LARGEST_SHARED_BYTES, type SharedChunks, sharedChunks } from '../event/chunk-pool.ts';
import type { MappedValue, Mapping } from '../mapping/mapping.ts';
import type { NamedMappings } from '../mapping/named-mappings.ts';
import { ThreadsBusy, UnreadableInput } from './intake-report.ts';
import type { BatchPlace, MappedPiece, RecordBatch } from './mapped-pieces.ts';
import { carryOut, type EnvelopeTask, type MappedBody, type RecordResult, type RecordTask, type TakenBody } from './record-worker.ts';

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

/** A body that was taken apart. */
interface OpenedBody extends Omit<TakenBody, 'piece'> {
  /** What becomes of its records, which is to be disposed once it is taken in, or given up; null where no mapping is named. */
  readonly underWay: UnderWay | null;
}

/**
 * Maps records of other products, and takes the envelopes of doors apart, most of them on threads. All that take in records share it.
 */
export class MappingThreads {
  readonly mappings: NamedMappings;
  /** Memory for batches, which is given back here when they are taken in. */
  readonly chunks = sharedChunks();
  readonly #pool: WorkerPool<RecordTask, RecordResult, ReadonlyMap<string, Mapping>>;
  /** Of what is under way: as many as there are threads, and a few more, each until it is taken in. */
  readonly #permits: Semaphore;

  /** `module` is what the threads do, in place of `record-worker.ts`. */
  constructor(mappings: NamedMappings, heapMb = HEAP_MB, module = new URL('./record-worker.ts', import.meta.url)) {
    this.mappings = mappings;
    const count = Math.max(1, Math.min(MAX_MAPPING_THREADS, availableParallelism() - 1));
    this.#permits = new Semaphore(count + MAX_AHEAD);
    const plain = new Map([...mappings].map(([name, { mapping }]) => [name, mapping]));
    const unpacking = new Set([...plain].filter(([, mapping]) => unpacks(mapping)).map(([name]) => name));
    this.#pool = new WorkerPool({
      module,
      data: plain,
      maxThreads: count,
      heapMb,
      inline: {
        fits: (task) => {
          // Its records may be gzip of a thousand times their bytes.
          if ('envelope' in task && task.envelope === 'firehose') return false;
          const [{ length }, mapping] = bytesAndMappingOf(task);
          return length <= MAX_BYTES_HERE && (mapping === undefined || !unpacking.has(mapping));
        },
        run: (task) => carryOut(task, plain),
      },
    });
  }

  /** Whether a batch would be mapped soon. */
  get hasRoom(): boolean {
    return this.#permits.hasRoom;
  }

  /**
   * Waits for room, for `waitMs` at most, and begins to map a batch. Resolves with what becomes of its records, which is to be disposed
   * once it is taken in, or given up. Rejects with ThreadsBusy, and with the signal's reason where it is aborted before there is room.
   */
  async begin(batch: RecordBatch, signal?: AbortSignal, waitMs?: number): Promise<UnderWay> {
    const permit = this.#permits.tryTake() ?? (await this.#awaitedPermit(signal, waitMs));
    const { chunks } = this;
    return new UnderWay({
      records: batch.ends.length,
      map: (from, room) => this.#carryOut<MappedPiece>({ batch, from, room }),
      room: chunks.take(roomFor(batch.bytes)),
      chunks,
      onEnd: () => permit[Symbol.dispose](),
      onUnused: () => chunks.giveBack(batch.bytes),
    });
  }

  /**
   * Takes the envelope of a door apart and, where `how` names a mapping, maps its first records in the same task, and the others as they
   * are asked for. The bytes of the body, and a NUL behind it, cannot be used here afterwards. Waits for room as `begin` does, without a
   * mapping for a thread, and rejects as it does; and with ThreadEnded and UnreadableInput.
   */
  async takeApart(
    envelope: EnvelopeName,
    body: Uint8Array<ArrayBuffer>,
    how?: Pick<RecordBatch, 'mapping' | 'zones'>,
    signal?: AbortSignal,
  ): Promise<OpenedBody | EnvelopeFault> {
    if (how !== undefined) return await this.#takeMapped({ envelope, body }, how, signal);
    const taken = await this.#taken({ envelope, body }, signal);
    if (taken.kind === 'fault') return taken;
    const { bytes } = taken.rest;
    // A Buffer comes from a thread as the array that it is.
    const rest = { ...taken.rest, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) };
    return { ...taken, rest, underWay: null };
  }

  async #awaitedPermit(signal: AbortSignal | undefined, waitMs: number | undefined): Promise<Disposable> {
    if (waitMs === undefined) return await this.#permits.take(signal);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new ThreadsBusy(waitMs)), waitMs);
    try {
      return await this.#permits.take(AbortSignal.any([late.signal, ...(signal === undefined ? [] : [signal])]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the threads; batches under way reject. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #takeMapped(
    { envelope, body }: EnvelopeTask,
    { mapping, zones }: Pick<RecordBatch, 'mapping' | 'zones'>,
    signal?: AbortSignal,
  ): Promise<OpenedBody | EnvelopeFault> {
    const permit = await this.#permits.take(signal);
    const { chunks } = this;
    const room = chunks.take(roomFor(body));
    let first: MappedPiece | null = null;
    try {
      const taken = await this.#taken({ envelope, body, mapping: { mapping, zones, room } });
      if (taken.kind === 'fault') return taken;
      first = taken.piece;
      if (first === null) throw new Error('a body with a mapping has no piece');
      let { rest } = taken;
      const map = async (from: BatchPlace, into: Uint8Array): Promise<MappedPiece> => {
        const memory = [rest.bytes, rest.starts, rest.ends].map(({ buffer }) => buffer as ArrayBuffer);
        const mapped = await this.#carryOut<MappedBody>({ rest, from, mapping: { mapping, zones, room: into } }, memory);
        rest = mapped.rest;
        return mapped.piece!;
      };
      const underWay = new UnderWay({ records: taken.count, map, room, first, chunks, onEnd: () => permit[Symbol.dispose]() });
      return { ...taken, underWay };
    } finally {
      if (first === null) {
        chunks.giveBack(room);
        permit[Symbol.dispose]();
      }
    }
  }

  async #taken(task: EnvelopeTask, signal?: AbortSignal): Promise<TakenBody | EnvelopeFault> {
    return await this.#carryOut(task, [task.body.buffer], signal);
  }

  /** Throws UnreadableInput where the thread ends because its heap has no room for the records: it would each time. */
  async #carryOut<Result extends RecordResult>(
    task: RecordTask,
    memory: readonly ArrayBuffer[] = [],
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return (await this.#pool.run(task, memory, signal)) as Result;
    } catch (error) {
      const isFull = error instanceof ThreadEnded && (error.cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (!isFull) throw error;
      throw new UnreadableInput('too_much_memory', 'its records take more memory than a thread may have for them', { cause: error });
    }
  }
}

/** Records that are to be mapped. */
interface RecordsToMap {
  /** How many there are. */
  readonly records: number;
  /** Maps them from a place on, into memory for what becomes of them. */
  readonly map: (from: BatchPlace, room: Uint8Array) => Promise<MappedPiece>;
  readonly room: Uint8Array;
  /** What becomes of the first of them, in that memory. Absent: it is mapped. */
  readonly first?: MappedPiece;
  readonly chunks: SharedChunks;
  /** Called when they are taken in, or given up. */
  readonly onEnd: () => void;
  /** Called behind that, once no thread works on them. */
  readonly onUnused?: () => void;
}

/** Records that are being mapped. */
export class UnderWay implements Disposable {
  readonly #of: RecordsToMap;
  #room: Uint8Array;
  #coming: Promise<MappedPiece> | null;
  #next: BatchPlace = { record: 0, outcome: 0 };
  /** The bytes that the last piece had no room for. */
  #needsBytes = 0;
  #isEnded = false;

  constructor(records: RecordsToMap) {
    [this.#of, this.#room] = [records, records.room];
    this.#coming = records.first === undefined ? this.#begin() : Promise.resolve(records.first);
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
    while (this.#next.record < this.#of.records) {
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
    this.#of.onEnd();
    // The thread may still be at work.
    void Promise.allSettled([this.#coming]).then(() => {
      this.#of.chunks.giveBack(this.#room);
      this.#of.onUnused?.();
    });
  }

  #begin(): Promise<MappedPiece> {
    if (this.#needsBytes > 0) this.#enlargeRoom(this.#needsBytes);
    const piece = this.#of.map(this.#next, this.#room);
    // Whoever asks for the piece learns of it.
    piece.catch(() => undefined);
    return piece;
  }

  /** An envelope of which an event had no room has more of them: what is there already would be mapped again for each piece. */
  #enlargeRoom(atLeast: number): void {
    const { length } = this.#room;
    const wanted = Math.max(atLeast, Math.min(LARGEST_SHARED_BYTES, GROWTH * length));
    if (wanted <= length) return;
    this.#of.chunks.giveBack(this.#room);
    this.#room = this.#of.chunks.take(wanted);
  }
}

/** A piece is a little larger than its records, and those of an envelope are several times as long. */
function roomFor({ length }: Uint8Array): number {
  return Math.min(LARGEST_SHARED_BYTES, 2 * length);
}

/** What a task is about, and the mapping that it names. */
function bytesAndMappingOf(task: RecordTask): readonly [Uint8Array, string | undefined] {
  if ('envelope' in task) return [task.body, task.mapping?.mapping];
  return 'rest' in task ? [task.rest.bytes, task.mapping.mapping] : [task.batch.bytes, task.batch.mapping];
}

/** Whether a record may become much more than it is: then it is mapped on a thread, however small it is. */
function unpacks({ items, fields, id, zone, leaveOut }: Mapping): boolean {
  const values = [...fields.values(), ...id, ...[zone, leaveOut].filter((value) => value !== null)];
  return [...items, ...values.flatMap(withNested)].some(({ decode }) => decode.some(({ kind }) => kind === 'gzip'));
}

function withNested(value: MappedValue): readonly MappedValue[] {
  return value.source.kind === 'first' ? [value, ...value.source.values.flatMap(withNested)] : [value];
}

import { Piscina } from 'piscina';
import { Semaphore } from './semaphore.ts';

const IDLE_MS = 60_000;

/** A module whose export `startWork` a pool calls once on each of its threads. What it returns carries out the tasks. */
export interface WorkerModule<Task, Result, Data = unknown> {
  /** `isStopped` tells whether the pool wants the task under way to be given up. */
  readonly startWork: (data: Data, isStopped: () => boolean) => Worker<Task, Result> | Promise<Worker<Task, Result>>;
}

type Worker<Task, Result> = (task: Task) => Result | Promise<Result>;

export interface WorkerPoolOptions<Task, Result, Data> {
  /** The URL of a `WorkerModule`. */
  readonly module: URL;
  /** The first argument of `startWork`; the threads get a copy. */
  readonly data?: Data;
  /** Default: 1, so that the tasks run one after the other. */
  readonly maxThreads?: number;
  /** Whether the threads leave the cores to other threads that want them. Default: no. */
  readonly yields?: boolean;
  /** The most that the heap of a thread may take; a thread that needs more ends. Default: Node's. */
  readonly heapMb?: number;
  /** Carries out tasks on the calling thread. */
  readonly inline?: {
    /** Whether a task is so small that starting a thread takes longer. */
    readonly fits: (task: Task) => boolean;
    /** `signal` is aborted when the pool wants the task to be given up. */
    readonly run: (task: Task, signal: AbortSignal) => Result | Promise<Result>;
  };
}

/** The `workerData` of a thread. */
export interface WorkerStart {
  readonly module: string;
  readonly data: unknown;
  readonly yields: boolean;
  /** One number: not 0 once the task under way is to be given up. */
  readonly stop: Int32Array;
}

/** What a task rejects with whose thread ended or could not start, or whose pool is closed. `cause` says why. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';

  constructor(cause: unknown) {
    super('a thread of the program ended at its work', { cause });
  }
}

/**
 * Carries out tasks where they are given or on threads, which start with the first task and end after a minute without one. A thread has
 * one task at a time, so that one that ends fails no other task.
 */
export class WorkerPool<Task, Result, Data = unknown> {
  readonly #options: WorkerPoolOptions<Task, Result, Data>;
  readonly #stopFlag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #stopping = new AbortController();
  readonly #free: Semaphore;
  readonly #threads: PoolThread<Task, Result>[] = [];
  /** The last one has had a task last: it gets the next, so that the others may end. */
  readonly #idle: PoolThread<Task, Result>[] = [];
  #isClosed = false;

  constructor(options: WorkerPoolOptions<Task, Result, Data>) {
    this.#options = options;
    this.#free = new Semaphore(options.maxThreads ?? 1);
  }

  /** Throws where the pool has no way to carry out tasks inline. */
  async runInline(task: Task): Promise<Result> {
    const { inline, module } = this.#options;
    if (inline === undefined) {
      throw new Error(`tasks of ${module.href} run on threads only`);
    }
    this.#stopping.signal.throwIfAborted();
    return await inline.run(task, this.#stopping.signal);
  }

  /**
   * Carries out a task inline where it fits, and otherwise on a thread. Rejects with what the worker throws; with ThreadEnded, once the
   * thread does nothing any more; and with the reason of `signal` where that is aborted before a thread is free. The objects in
   * `transferList` cannot be used here afterwards.
   */
  async run(task: Task, transferList: readonly ArrayBuffer[] = [], signal?: AbortSignal): Promise<Result> {
    if (this.#options.inline?.fits(task)) {
      return await this.runInline(task);
    }
    using _permit = await this.#free.take(signal);
    if (this.#isClosed) {
      throw new ThreadEnded(new Error('the pool is closed'));
    }
    const thread = this.#idle.pop() ?? this.#newThread();
    try {
      return await thread.run(task, transferList);
    } finally {
      this.#idle.push(thread);
    }
  }

  /** Gives up the tasks under way, where their workers can do that, and all later ones. */
  stop(): void {
    Atomics.store(this.#stopFlag, 0, 1);
    this.#stopping.abort();
  }

  /** Ends the threads; the tasks that are left reject with ThreadEnded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #newThread(): PoolThread<Task, Result> {
    const { module, data, yields = false, heapMb } = this.#options;
    const thread = new PoolThread<Task, Result>({ module: module.href, data, yields, stop: this.#stopFlag }, heapMb);
    this.#threads.push(thread);
    return thread;
  }
}

/** A thread that is there while it has tasks. */
class PoolThread<Task, Result> {
  readonly #start: WorkerStart;
  readonly #heapMb: number | undefined;
  /** Starts the thread, and ends it when it has been idle. It has one task at a time. */
  #piscina: Piscina<Task, Result> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #onFailedStart: (error: Error) => void = () => undefined;

  constructor(start: WorkerStart, heapMb: number | undefined) {
    [this.#start, this.#heapMb] = [start, heapMb];
  }

  async run(task: Task, transferList: readonly ArrayBuffer[]): Promise<Result> {
    this.#piscina ??= this.#begin();
    const piscina = this.#piscina;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    this.#onFailedStart = reject;
    try {
      return await Promise.race([failed, piscina.run(task, { transferList: [...transferList] })]);
    } catch (error) {
      if (piscina.threads.length > 0) throw error;
      await this.end();
      throw new ThreadEnded(error);
    }
  }

  /** Resolves once the thread has ended. The next task would start another. */
  end(): Promise<void> {
    if (this.#piscina !== undefined) this.#ended = this.#piscina.destroy();
    this.#piscina = undefined;
    return this.#ended;
  }

  #begin(): Piscina<Task, Result> {
    const piscina = new Piscina<Task, Result>({
      filename: new URL('./worker-thread.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      workerData: this.#start,
      ...(this.#heapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: this.#heapMb } }),
    });
    // Piscina never settles the task of a thread that fails while it starts.
    piscina.on('error', (error: Error) => this.#onFailedStart(error));
    return piscina;
  }
}

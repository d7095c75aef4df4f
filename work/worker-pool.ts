import { Piscina } from 'piscina';

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

/** Carries out tasks where they are given or on threads, which start with the first task and end after a minute without one. */
export class WorkerPool<Task, Result, Data = unknown> {
  readonly #options: WorkerPoolOptions<Task, Result, Data>;
  readonly #stopFlag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<(error: Error) => void>();
  #pool: Piscina<Task, Result> | undefined;

  constructor(options: WorkerPoolOptions<Task, Result, Data>) {
    this.#options = options;
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
   * Carries out a task inline where it fits, and otherwise on a thread. Rejects with what the worker throws, and also where the thread
   * ends or cannot start; the next task then starts another thread. The objects in `transferList` cannot be used here afterwards.
   */
  async run(task: Task, transferList: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#options.inline?.fits(task)) {
      return await this.runInline(task);
    }
    this.#pool ??= this.#startPool();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.add(reject);
    this.#pool.run(task, { transferList: [...transferList] }).then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Gives up the tasks under way, where their workers can do that, and all later ones. */
  stop(): void {
    Atomics.store(this.#stopFlag, 0, 1);
    this.#stopping.abort();
  }

  /** Ends the threads; the tasks that are left on them reject. */
  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #startPool(): Piscina<Task, Result> {
    const { module, data, maxThreads = 1, yields = false, heapMb } = this.#options;
    const start: WorkerStart = { module: module.href, data, yields, stop: this.#stopFlag };
    const pool = new Piscina<Task, Result>({
      filename: new URL('./worker-thread.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads,
      idleTimeout: IDLE_MS,
      workerData: start,
      ...(heapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    });
    // Piscina never settles the tasks of a thread that fails while it starts.
    pool.on('error', (error: Error) => {
      this.#pool = undefined;
      for (const reject of this.#waiting) {
        reject(error);
      }
      void pool.destroy();
    });
    return pool;
  }
}

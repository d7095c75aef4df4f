import { Piscina } from 'piscina';

const IDLE_MS = 60_000;

/** A thread that carries out orders, one after the other. It starts with the first, and ends when there has been none for a minute. */
export class BackgroundThread<Order, Result> {
  readonly #module: URL;
  readonly #data: unknown;
  readonly #waiting = new Set<(error: Error) => void>();
  #pool: Piscina<Order, Result> | undefined;

  /** The default export of `module` carries an order out; it finds `data` as Piscina's `workerData`. */
  constructor(module: URL, data?: unknown) {
    this.#module = module;
    this.#data = data;
  }

  /** Rejects where the thread cannot start, too; the next order starts another one. */
  async run(order: Order): Promise<Result> {
    this.#pool ??= this.#newPool();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.add(reject);
    this.#pool.run(order).then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #newPool(): Piscina<Order, Result> {
    const pool = new Piscina<Order, Result>({
      filename: this.#module.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      workerData: this.#data,
    });
    // A thread that fails before it has an order: Piscina leaves what waits for it waiting.
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

import { Piscina } from 'piscina';

const IDLE_MS = 60_000;

/** A thread that carries out orders, one after the other. It starts with the first, and ends when there has been none for a minute. */
export class BackgroundThread<Order, Result> {
  readonly #module: URL;
  readonly #data: unknown;
  #pool: Piscina<Order, Result> | undefined;

  /** The default export of `module` carries an order out; it finds `data` as Piscina's `workerData`. */
  constructor(module: URL, data?: unknown) {
    this.#module = module;
    this.#data = data;
  }

  async run(order: Order): Promise<Result> {
    this.#pool ??= new Piscina({ filename: this.#module.href, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, workerData: this.#data });
    return await this.#pool.run(order);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }
}

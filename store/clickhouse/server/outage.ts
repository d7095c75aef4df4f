import type { StoreLogger } from '../../event-store.ts';

export interface OutageOptions {
  readonly logger: StoreLogger;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number;
}

/** The time in which ClickHouse cannot be asked. It is logged where it begins and where it ends, however much is asked meanwhile. */
export class Outage {
  readonly #options: OutageOptions;
  #begunAtMs: number | undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get isUnderWay(): boolean {
    return this.#begunAtMs !== undefined;
  }

  /** A statement was answered by no server. */
  failed(error: Error): void {
    if (this.#begunAtMs !== undefined) {
      return;
    }
    const { logger, elapsedMs } = this.#options;
    this.#begunAtMs = elapsedMs();
    logger.error({ err: error }, error.message);
  }

  /** The time, for {@link answered}. */
  now(): number {
    return this.#options.elapsedMs();
  }

  /** A server answered a statement that was sent at this time. One from before the outage says nothing of it. */
  answered(sentAtMs: number): void {
    if (this.#begunAtMs === undefined || sentAtMs < this.#begunAtMs) {
      return;
    }
    const { logger, elapsedMs } = this.#options;
    const seconds = Math.round((elapsedMs() - this.#begunAtMs) / 100) / 10;
    this.#begunAtMs = undefined;
    logger.info({ seconds }, `ClickHouse can be asked again, after ${seconds} s`);
  }
}

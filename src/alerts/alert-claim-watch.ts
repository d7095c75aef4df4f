import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AlertClaim, type AlertFollower, CLAIM_EXPIRES_MS, type HeldClaim, type StoreLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';

/** The file in DATA_DIR of the id by which the program has its claim again after a crash. No backup has it, so that no two folders have. */
const CLAIM_FILE = 'alert-claim-id';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const RENEW_EVERY_MS = 10_000;
const RETRY_MS = 1_000;
/** A start and a stop wait so long for a store that does not answer. */
const START_WAIT_MS = 10_000;
const STOP_WAIT_MS = 2_000;

interface AlertClaimOptions {
  readonly claim: AlertClaim;
  readonly dataDir: string;
  readonly logger: StoreLogger;
  /** Default: 10 s. */
  readonly renewEveryMs?: number;
}

/** Renews the claim to follow rules of alerts for as long as the program runs, and takes it when it is free. */
export class AlertClaimWatch {
  readonly #options: AlertClaimOptions;
  readonly #own: AlertFollower;
  readonly #stopping = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  /** When the last renewal was sent that has come through, by a clock that nobody sets. */
  #heldAtMs = Number.NEGATIVE_INFINITY;
  /** Who has the claim, as far as it is another program. */
  #other: HeldClaim | undefined;
  /** Why the store cannot be asked. */
  #failure: string | undefined;

  private constructor(options: AlertClaimOptions) {
    this.#options = options;
    this.#own = { id: idIn(options.dataDir), program: `process ${process.pid} on ${hostname()} with DATA_DIR=${resolve(options.dataDir)}` };
    this.#running = this.#run();
  }

  /**
   * Resolves once the program has the claim, or its store cannot be asked for it. Throws ConfigError where another program has it, and
   * `StoreError` (`folder_unusable`).
   */
  static async begin(options: AlertClaimOptions): Promise<AlertClaimWatch> {
    const watch = new AlertClaimWatch(options);
    await Promise.race([watch.#first.promise, delay(START_WAIT_MS, undefined, { ref: false })]);
    const other = watch.#other;
    if (other === undefined) return watch;
    await watch.stop();
    const free = `a claim whose program is gone is free ${CLAIM_EXPIRES_MS / 1_000} s later`;
    const advice = `set ALERTS for one program only, or stop that one; ${free}`;
    throw new ConfigError([`ALERTS is set, and ${followed(other)} (${other.program}): ${advice}`]);
  }

  /** Whether the program may follow rules. */
  isHeld(): boolean {
    return performance.now() - this.#heldAtMs < CLAIM_EXPIRES_MS;
  }

  /** Says for people why it follows none. */
  notes(): readonly string[] {
    if (this.isHeld()) return [];
    if (this.#other !== undefined) return [`this program follows no rules of alerts until that one stops: ${followed(this.#other)}`];
    return [`rules of alerts wait for the store, which one program may follow them for: ${this.#failure ?? 'it has not answered yet'}`];
  }

  /** Gives the claim back. Where the store does not answer, it expires by itself. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const released = this.#running.then(() => this.#options.claim.release(this.#own));
    const failed = (err: unknown): void =>
      this.#options.logger.warn({ err }, 'the claim to follow rules of alerts could not be given back');
    await Promise.race([released.catch(failed), delay(STOP_WAIT_MS, undefined, { ref: false })]);
  }

  async #run(): Promise<void> {
    const { renewEveryMs = RENEW_EVERY_MS } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#renew();
      this.#first.resolve();
      await delay(this.#failure === undefined ? renewEveryMs : RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #renew(): Promise<void> {
    const { claim, logger } = this.#options;
    const sentAtMs = performance.now();
    try {
      const other = (await claim.take(this.#own)) ?? undefined;
      this.#failure = undefined;
      if (other === undefined) {
        this.#heldAtMs = sentAtMs;
        if (this.#other !== undefined) logger.info({}, 'this program follows the rules of alerts again');
      } else {
        this.#heldAtMs = Number.NEGATIVE_INFINITY;
        if (this.#other?.id !== other.id)
          logger.error({ program: other.program }, `this program follows no rules of alerts: ${followed(other)}`);
      }
      this.#other = other;
    } catch (error) {
      const { message } = error as Error;
      if (this.#failure === undefined) logger.warn({ err: error }, 'the claim to follow rules of alerts could not be renewed yet');
      this.#failure = message;
    }
  }
}

function followed({ sinceMs }: HeldClaim): string {
  return `another program has followed the rules of alerts of this store since ${new Date(sinceMs).toISOString()}`;
}

/** The id of the program with this folder, which is made at its first start. Throws `StoreError` (`folder_unusable`). */
function idIn(dataDir: string): string {
  const file = join(dataDir, CLAIM_FILE);
  try {
    const found = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (ID.test(found)) return found;
    const id = randomUUID();
    writeFileSync(file, id, { mode: 0o600 });
    return id;
  } catch (error) {
    throw new StoreError('folder_unusable', `DATA_DIR: ${JSON.stringify(file)} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

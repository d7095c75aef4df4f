import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AlertClaim, CLAIM_EXPIRES_MS, type HeldClaim, type StoreLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';

/** The file in DATA_DIR of the id by which the program has its claim again after a crash. No backup has it, so that no two folders have. */
const CLAIM_FILE = 'alert-claim-id';

const RENEW_EVERY_MS = 10_000;
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

/** The claim of the program to follow rules of alerts. */
export interface AlertClaimWatch {
  /** Whether the program may follow rules. Renews the claim where it is time for it, so that who follows rules asks before each page. */
  isHeld(): boolean;
  /** Says for people why it follows none. */
  notes(): readonly string[];
  /** Gives the claim back. Where the store does not answer, it expires by itself. */
  stop(): Promise<void>;
}

/**
 * Resolves once the program has the claim, or its store cannot be asked for it. Throws ConfigError where another program has it, and
 * `StoreError` (`folder_unusable`).
 */
export async function watchAlertClaim(options: AlertClaimOptions): Promise<AlertClaimWatch> {
  const { claim, dataDir, logger, renewEveryMs = RENEW_EVERY_MS } = options;
  const own = { id: idIn(dataDir), program: `process ${process.pid} on ${hostname()} with DATA_DIR=${resolve(dataDir)}` };
  /** Times are of a clock that nobody sets. While a renewal is under way, there is no time for the next one. */
  let [renewAtMs, heldUntilMs] = [Number.POSITIVE_INFINITY, 0];
  /** Who has the claim, as far as it is another program. */
  let other = null as HeldClaim | null;
  /** Why it is not known who has it; null: it is. */
  let failure: string | null = 'it has not answered yet';

  async function renew(nowMs: number): Promise<void> {
    renewAtMs = Number.POSITIVE_INFINITY;
    try {
      const before = other;
      other = await claim.take(own);
      failure = null;
      heldUntilMs = other === null ? nowMs + CLAIM_EXPIRES_MS : 0;
      if (other === null && before !== null) logger.info({}, 'this program follows the rules of alerts again');
      if (other !== null && other.id !== before?.id) {
        logger.error({ program: other.program }, `this program follows no rules of alerts: ${followed(other)}`);
      }
    } catch (error) {
      const { message } = error as Error;
      if (failure !== message) logger.warn({ err: error }, 'the claim to follow rules of alerts could not be renewed yet');
      failure = message;
    }
    renewAtMs = nowMs + renewEveryMs;
  }

  let renewing = renew(performance.now());
  await Promise.race([renewing, delay(START_WAIT_MS, undefined, { ref: false })]);
  if (other !== null) {
    const free = `a claim whose program is gone is free ${CLAIM_EXPIRES_MS / 1_000} s later`;
    const advice = `set ALERTS for one program only, or stop that one; ${free}`;
    throw new ConfigError([`ALERTS is set, and ${followed(other)} (${other.program}): ${advice}`]);
  }
  return {
    isHeld: () => {
      const nowMs = performance.now();
      if (nowMs >= renewAtMs) renewing = renew(nowMs);
      return nowMs < heldUntilMs;
    },
    notes: () => {
      if (other !== null) return [`this program follows no rules of alerts until that one stops: ${followed(other)}`];
      if (failure === null || performance.now() < heldUntilMs) return [];
      return [`rules of alerts wait for the store, which one program may follow them for: ${failure}`];
    },
    stop: async () => {
      const released = renewing.then(() => claim.release(own));
      const failed = (err: unknown): void => logger.warn({ err }, 'the claim to follow rules of alerts could not be given back');
      await Promise.race([released.catch(failed), delay(STOP_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

function followed({ sinceMs }: HeldClaim): string {
  return `another program has followed the rules of alerts of this store since ${new Date(sinceMs).toISOString()}`;
}

/** The id of the program with this folder, which is made at its first start. Throws `StoreError` (`folder_unusable`). */
function idIn(dataDir: string): string {
  const file = join(dataDir, CLAIM_FILE);
  try {
    if (!existsSync(file)) writeFileSync(file, randomUUID(), { mode: 0o600, flush: true });
    return readFileSync(file, 'utf8');
  } catch (error) {
    const what = `DATA_DIR: ${JSON.stringify(file)} cannot be used: ${(error as Error).message}`;
    throw new StoreError('folder_unusable', what, { cause: error });
  }
}

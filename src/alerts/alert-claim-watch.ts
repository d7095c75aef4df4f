import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AlertClaim, CLAIM_EXPIRES_MS, type HeldClaim, type StoreLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';

/** The file in DATA_DIR of the id by which the program has its claim again after a crash. No backup has it, so that no two folders have. */
const CLAIM_FILE = 'alert-claim-id';
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const RENEW_EVERY_MS = 10_000;
/** A renewal without an answer for so long no longer keeps the next one from being tried; its connection may take minutes to fail. */
const HANGS_AFTER_MS = 20_000;
/** A start and a stop wait so long for a store that does not answer, and the stop half of it for renewals to end. */
const START_WAIT_MS = 10_000;
const STOP_WAIT_MS = 2_000;

interface AlertClaimOptions {
  readonly claim: AlertClaim;
  readonly dataDir: string;
  readonly logger: StoreLogger;
  /** Default: 10 s. */
  readonly renewEveryMs?: number;
  /** A clock that nobody sets. Default: that of the process. */
  readonly nowMs?: () => number;
}

/** The claim of the program to follow rules of alerts. */
export interface AlertClaimWatch {
  /** Whether the program may follow rules now. Who follows rules asks again after all that may take long, because the claim may expire. */
  isHeld(): boolean;
  /** Says for people why it may not. */
  notes(): readonly string[];
  /** Gives the claim back, and says nothing more. Where the store does not answer, the claim expires by itself. */
  stop(): Promise<void>;
}

/**
 * Resolves once the program has the claim, or its store cannot be asked for it, and renews it until it is stopped. Throws ConfigError where
 * another program has it, and `StoreError` (`folder_unusable`).
 */
export async function watchAlertClaim(options: AlertClaimOptions): Promise<AlertClaimWatch> {
  const { claim, dataDir, logger, renewEveryMs = RENEW_EVERY_MS, nowMs = () => performance.now() } = options;
  const own = { id: idIn(dataDir), program: `process ${process.pid} on ${hostname()} with DATA_DIR=${resolve(dataDir)}` };
  /** When the last renewal began; null: it has ended. */
  let renewingSinceMs: number | null = null;
  /** When the newest of the answered renewals began. Several may be under way; those that began earlier count no more. */
  let answeredMs = Number.NEGATIVE_INFINITY;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Who has the claim, as far as it is another program. */
  let other = null as HeldClaim | null;
  /** Why the last renewal has failed; null: it has not. */
  let failure: string | null = null;

  function noteAnswer(taken: HeldClaim | null, begunMs: number): void {
    if (begunMs < answeredMs) return;
    const before = other;
    answeredMs = begunMs;
    other = taken;
    failure = null;
    heldUntilMs = other === null ? begunMs + CLAIM_EXPIRES_MS : Number.NEGATIVE_INFINITY;
    if (other === null && before !== null) logger.info({}, 'this program follows the rules of alerts again');
    if (other !== null && other.id !== before?.id) {
      logger.error({ program: other.program }, `this program follows no rules of alerts: ${followed(other)}`);
    }
  }

  async function renew(): Promise<void> {
    const begunMs = nowMs();
    renewingSinceMs = begunMs;
    try {
      noteAnswer(await claim.take(own), begunMs);
    } catch (error) {
      if (begunMs < answeredMs) return;
      const { message } = error as Error;
      if (failure !== message) logger.warn({ err: error }, 'the claim to follow rules of alerts could not be renewed yet');
      failure = message;
    } finally {
      if (renewingSinceMs === begunMs) renewingSinceMs = null;
    }
  }

  /** Resolves when all renewals have ended. One that comes to the store behind the giving back takes the claim again. */
  let renewing: Promise<unknown> = renew();
  await Promise.race([renewing, delay(START_WAIT_MS, undefined, { ref: false })]);
  if (other !== null) {
    const free = `a claim whose program is gone is free ${CLAIM_EXPIRES_MS / 1_000} s later`;
    const advice = `set ALERTS for one program only, or stop that one; ${free}`;
    throw new ConfigError([`ALERTS is set, and ${followed(other)} (${other.program}): ${advice}`]);
  }
  const timer = setInterval(() => {
    if (renewingSinceMs === null || nowMs() - renewingSinceMs >= HANGS_AFTER_MS) renewing = Promise.all([renewing, renew()]);
  }, renewEveryMs).unref();
  const isHeld = () => nowMs() < heldUntilMs;

  async function giveBack(): Promise<void> {
    clearInterval(timer);
    const failed = (err: unknown): void => logger.warn({ err }, 'the claim to follow rules of alerts could not be given back');
    const release = (): Promise<void> => claim.release(own).catch(failed);
    const waitMs = STOP_WAIT_MS / 2;
    const haveEnded = await Promise.race([renewing.then(() => true), delay(waitMs, false, { ref: false })]);
    if (!haveEnded) void renewing.then(release);
    await Promise.race([release(), delay(waitMs, undefined, { ref: false })]);
  }

  let stopped: Promise<void> | undefined;
  return {
    isHeld,
    notes: () => {
      if (stopped !== undefined) return [];
      if (other !== null) return [`this program follows no rules of alerts until that one stops: ${followed(other)}`];
      if (isHeld()) return [];
      return [`rules of alerts wait for the store, which one program may follow them for: ${failure ?? 'it has not answered yet'}`];
    },
    stop: () => {
      stopped ??= giveBack();
      return stopped;
    },
  };
}

function followed({ sinceMs }: HeldClaim): string {
  return `another program has followed the rules of alerts of this store since ${new Date(sinceMs).toISOString()}`;
}

/**
 * The id of the program with this folder, which is made at its first start, and anew where the file has none. Throws `StoreError`
 * (`folder_unusable`).
 */
function idIn(dataDir: string): string {
  const file = join(dataDir, CLAIM_FILE);
  try {
    const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (ID.test(kept)) return kept;
    const id = randomUUID();
    // A program that is killed here leaves no part of an id under its name.
    writeFileSync(`${file}.tmp`, id, { mode: 0o600, flush: true });
    renameSync(`${file}.tmp`, file);
    return id;
  } catch (error) {
    const what = `DATA_DIR: ${JSON.stringify(file)} cannot be used: ${(error as Error).message}`;
    throw new StoreError('folder_unusable', what, { cause: error });
  }
}

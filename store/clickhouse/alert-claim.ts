import { ALERT_CLAIM_STATEMENT, writeClaimStatement } from '../../sql/clickhouse/claim-statements.ts';
import { type Cluster, syncReplicasStatement } from '../../sql/clickhouse/cluster.ts';
import { SETTINGS_TABLE } from '../../sql/clickhouse/store-tables.ts';
import { type AlertClaim, type AlertFollower, CLAIM_EXPIRES_MS, type HeldClaim } from '../event-store.ts';
import { StoreError } from '../store-error.ts';
import type { ClickhouseClient } from './server/client.ts';
import { type ClickhouseSettings, WITHOUT_AWAY } from './server/settings.ts';

interface SharedAlertClaimOptions {
  readonly client: Pick<ClickhouseClient, 'readRow' | 'run'>;
  readonly cluster: Cluster | null;
  /** Resolves once the store can be used. */
  readonly storeId: () => Promise<number>;
}

/** The claim as its row has it. */
interface WrittenClaim extends HeldClaim {
  /** By the clock of the server, Unix ms UTC. */
  readonly renewedAtMs: number;
}

/** What the server tells of the claim. */
interface Look {
  /** Null: nobody has it. */
  readonly claim: WrittenClaim | null;
  readonly version: bigint;
  readonly serverMs: number;
}

/** Somebody else may write between a look and the write behind it. */
const MOST_TRIES = 5;

/** The claim to follow rules of alerts, as a row of the store. All times are those of the server's clock. */
export class SharedAlertClaim implements AlertClaim {
  readonly #options: SharedAlertClaimOptions;

  constructor(options: SharedAlertClaimOptions) {
    this.#options = options;
  }

  async take(own: AlertFollower): Promise<HeldClaim | null> {
    await this.#options.storeId();
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { claim, version, serverMs } = await this.#look();
      const isOurs = claim?.id === own.id;
      // Where the clock has stepped back, a claim that is renewed is not from a time to come for long.
      if (claim !== null && !isOurs && Math.abs(serverMs - claim.renewedAtMs) < CLAIM_EXPIRES_MS) return claim;
      const taken: WrittenClaim = { ...own, sinceMs: isOurs ? claim.sinceMs : serverMs, renewedAtMs: serverMs };
      await this.#write(taken, version, isOurs ? RENEWAL : firstAfter(version));
      const after = await this.#look();
      if (after.claim?.id === own.id) return null;
    }
    throw new StoreError('unavailable', `table ${SETTINGS_TABLE} does not take the claim to follow rules of alerts`);
  }

  async release(own: AlertFollower): Promise<void> {
    const { claim, version } = await this.#look();
    if (claim?.id === own.id) await this.#write(null, version, RENEWAL);
  }

  async #look(): Promise<Look> {
    const row = await this.#options.client.readRow(ALERT_CLAIM_STATEMENT);
    const [value, version, serverMs] = row as readonly [string, string, string];
    return { claim: value === '' ? null : JSON.parse(value), version: BigInt(version), serverMs: Number(serverMs) };
  }

  async #write(claim: WrittenClaim | null, seen: bigint, settings: ClickhouseSettings): Promise<void> {
    const { client, cluster } = this.#options;
    await client.run(writeClaimStatement(claim === null ? '' : JSON.stringify(claim), seen), { settings });
    if (cluster !== null && settings !== RENEWAL) {
      // Another node may have the claim of a program that was first.
      await client.run(syncReplicasStatement(SETTINGS_TABLE, cluster), { settings: WITHOUT_AWAY });
    }
  }
}

/** Renewals have no token, because a server remembers the last hundred. */
const RENEWAL: ClickhouseSettings = { insert_deduplicate: 0, deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' };

/** ClickHouse stores one INSERT with a token, and leaves others with it out: of programs that take a claim at once one has it. */
function firstAfter(version: bigint): ClickhouseSettings {
  return {
    insert_deduplication_token: `the claim after ${version}`,
    insert_deduplicate: 1,
    deduplicate_insert: 'enable',
    deduplicate_insert_select: 'force_enable',
  };
}

import { type Cluster, syncReplicasStatement } from '../../sql/clickhouse/cluster.ts';
import { ALERT_CLAIM_STATEMENT, writeClaimStatement } from '../../sql/clickhouse/settings-statements.ts';
import { SETTINGS_TABLE } from '../../sql/clickhouse/store-tables.ts';
import { type AlertClaim, CLAIM_EXPIRES_MS, type HeldClaim } from '../event-store.ts';
import { StoreError } from '../store-error.ts';
import type { ClickhouseClient } from './server/client.ts';
import { type ClickhouseSettings, insertedOnce, WITHOUT_AWAY } from './server/settings.ts';

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

/** Renewals have no token, because a server remembers the last hundred. */
const RENEWAL: ClickhouseSettings = { insert_deduplicate: 0, deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' };

/** The claim to follow rules of alerts, as a row of the store. All times are those of the server's clock. */
export function sharedAlertClaim({ client, cluster, storeId }: SharedAlertClaimOptions): AlertClaim {
  /** The claim, null where nobody has it, its version, and the time of the server. */
  async function look() {
    const [value, version, serverMs] = (await client.readRow(ALERT_CLAIM_STATEMENT)) as readonly [string, string, string];
    const claim: WrittenClaim | null = value === '' ? null : JSON.parse(value);
    return { claim, version: BigInt(version), serverMs: Number(serverMs) };
  }

  return {
    async take(own) {
      await storeId();
      const { claim, version, serverMs } = await look();
      const isOurs = claim?.id === own.id;
      // Where the clock has stepped back, a claim that is renewed is not from a time to come for long.
      const isFree = claim === null || Math.abs(serverMs - claim.renewedAtMs) >= CLAIM_EXPIRES_MS;
      if (!isFree && !isOurs) return claim;
      const taken: WrittenClaim = { ...own, sinceMs: isOurs ? claim.sinceMs : serverMs, renewedAtMs: serverMs };
      // Of those that write behind one free claim the server takes the first, who may be the program that had it.
      const settings = isFree ? insertedOnce(`the claim after ${version}`) : RENEWAL;
      await client.run(writeClaimStatement(JSON.stringify(taken), version), { settings });
      // Another node may have the claim of a program that was first.
      if (cluster !== null && isFree) await client.run(syncReplicasStatement(SETTINGS_TABLE, cluster), { settings: WITHOUT_AWAY });
      const { claim: written } = await look();
      // Who had it may have given it back between the look and the write behind it.
      if (written === null)
        throw new StoreError('unavailable', `table ${SETTINGS_TABLE} has not taken the claim to follow rules of alerts`);
      return written.id === own.id ? null : written;
    },
    async release(own) {
      const { claim, version } = await look();
      if (claim?.id === own.id) await client.run(writeClaimStatement('', version), { settings: RENEWAL });
    },
  };
}

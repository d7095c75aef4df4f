import { type Cluster, EVENTS_TABLE } from '../../sql/clickhouse/cluster.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { sql, text, trusted } from '../../sql/statement.ts';
import type { CheckLine } from '../event-store.ts';
import { ClickhouseClient } from './server/client.ts';
import type { ClickhouseAddress } from './server/connection.ts';

/** Has a server compare the parts of its events with their checksums. */
export async function* checkTable(client: Pick<ClickhouseClient, 'read'>, signal: AbortSignal): AsyncGenerator<CheckLine> {
  const { rows } = await client.read(clickhouseStatement(sql`CHECK TABLE ${trusted(EVENTS_TABLE)}`), {
    signal,
    settings: { check_query_single_value_result: 0 },
  });
  let faults = 0;
  for (const [part, isWhole, fault] of rows as readonly (readonly [string, boolean | number, string])[]) {
    if (!isWhole) {
      faults += 1;
      yield { kind: 'fault', file: `${EVENTS_TABLE}/${part}`, fault, events: null };
    }
  }
  yield { kind: 'summary', folder: EVENTS_TABLE, files: rows.length, bytes: 0, events: 0, faults };
}

interface CheckedShards {
  /** Each of its servers is asked by itself, because no statement has other nodes compare anything. */
  readonly address: ClickhouseAddress;
  readonly cluster: Cluster;
}

/** Has several servers of a cluster do that, each with its own parts. A shard that none of them is of is a fault. */
export async function* checkShards({ address, cluster }: CheckedShards, signal: AbortSignal): AsyncGenerator<CheckLine> {
  const isChecked = new Map<number, boolean>();
  let [files, faults] = [0, 0];
  for (const url of address.urls) {
    await using client = new ClickhouseClient({ ...address, urls: [url] });
    for (const [shard, isLocal] of await shardsOf(client, cluster, signal)) {
      isChecked.set(shard, isLocal || isChecked.get(shard) === true);
    }
    for await (const line of checkTable(client, signal)) {
      if (line.kind === 'summary') {
        files += line.files;
      } else if (line.kind === 'fault') {
        faults += 1;
        yield { ...line, file: `${new URL(url).host}/${line.file}` };
      }
    }
  }
  for (const [shard, isThere] of isChecked) {
    if (!isThere) {
      faults += 1;
      const fault = `no server of CLICKHOUSE_URL is of shard ${shard} of CLICKHOUSE_CLUSTER=${cluster.name}, which is not checked`;
      yield { kind: 'fault', file: EVENTS_TABLE, fault, events: null };
    }
  }
  yield { kind: 'summary', folder: EVENTS_TABLE, files, bytes: 0, events: 0, faults };
}

/** The shards of a cluster by their numbers, and whether the server is of them. */
async function shardsOf(
  client: Pick<ClickhouseClient, 'read'>,
  { name }: Cluster,
  signal: AbortSignal,
): Promise<readonly (readonly [shard: number, isLocal: boolean])[]> {
  const { rows } = await client.read(
    clickhouseStatement(sql`SELECT shard_num, max(is_local) FROM system.clusters WHERE cluster = ${text(name)} GROUP BY shard_num`),
    { signal },
  );
  return rows.map(([shard, isLocal]) => [Number(shard), Number(isLocal) === 1]);
}

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { inject, onTestFinished } from 'vitest';
import { onCluster } from '../../sql/clickhouse/cluster.ts';
import { BreakableProxy } from './server/breakable-proxy.ts';
import type { Fault } from './server/faults.ts';
import { type ServerOptions, type ServerProcess, startServer } from './server/server-process.ts';

export type { Fault } from './server/faults.ts';

/** A server that tests may break: it has a port, a clock and faults of its own, before a server that nobody breaks. */
export interface BreakableServer {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Switches a fault on; gives its number. */
  break(fault: Fault): Promise<number>;
  /** Resolves with the statements that the fault holds, once there are `count`. */
  held(fault: number, count?: number): Promise<readonly string[]>;
  /** Switches a fault off, and lets go what it holds; without a number, all. */
  mend(fault?: number): Promise<void>;
  /** Refuses connections, and cuts those that there are. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Moves the clock that now64 gives, from the server's. */
  moveClock(offsetMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A database that no other test has. */
export interface FreshDatabase {
  readonly name: string;
  readonly url: string;
  /** A client of the database. */
  readonly client: ClickHouseClient;
  drop(): Promise<void>;
}

let databases = 0;

/** The URL of the server that this run uses, with user and password if it has them. */
export function clickhouseUrl(): string {
  return inject('clickhouseUrl');
}

/** The URL of the first node of the cluster that the tests of the run share, which nobody breaks. */
export function clusterUrl(): string {
  const url = inject('clusterUrl');
  if (url === '') throw new Error('This machine cannot run the cluster of the tests: the start of the run says why');
  return url;
}

/**
 * Opens a server that a test may break, which is closed with it. It has the databases of the run's server; one with a user of its own has a
 * server process of its own.
 */
export async function breakableServer(user = 'default', password = ''): Promise<BreakableServer> {
  const isShared = user === 'default' && password === '';
  const server = isShared ? clickhouseUrl() : (await ownServer({ users: usersWith(user, password) })).url;
  return breakable(await BreakableProxy.open(server), user, password);
}

/** What a test has of a proxy, which is closed with it. */
export function breakable(proxy: BreakableProxy, user = 'default', password = ''): BreakableServer {
  const close = () => proxy.close();
  onTestFinished(close);
  return {
    url: proxy.url,
    user,
    password,
    break: async (fault) => proxy.faults.add(fault),
    held: (fault, count = 1) => proxy.faults.held(fault, count),
    mend: async (fault) => proxy.faults.release(fault),
    goAway: () => proxy.goAway(),
    comeBack: () => proxy.comeBack(),
    moveClock: async (offsetMs) => {
      proxy.clockOffsetMs = offsetMs;
    },
    close,
  };
}

/** Starts a server process of its own for a test, which ends with it. */
export async function ownServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const server = await startServer(serverFolder(), options);
  onTestFinished(() => server.stop());
  return server;
}

/** A new folder for a server, which removes it. What a killed server has written is there all the same. */
export function serverFolder(): string {
  return mkdtempSync(join(tmpdir(), 'shieldlog-clickhouse-'));
}

/** A users.xml with this user and `default`, who both may do everything. */
function usersWith(user: string, password: string): string {
  const users = Object.entries({ default: '', [user]: password }).map(
    ([name, key]) => `<${name}><password>${key}</password><profile>default</profile><quota>default</quota></${name}>`,
  );
  return `<profiles><default/></profiles><quotas><default/></quotas><users>${users.join('')}</users>`;
}

/** An answer of the format JSONCompact with columns of these types. */
export function answerOf(types: readonly string[], data: readonly (readonly unknown[])[]): string {
  return JSON.stringify({ meta: types.map((type, nth) => ({ name: `column ${nth}`, type })), data, rows: data.length });
}

/** A client that tells its errors to who asks, and not to standard error. */
export function quietClient(options: Parameters<typeof createClient>[0]): ClickHouseClient {
  return createClient({ ...options, log: { level: ClickHouseLogLevel.OFF } });
}

/**
 * Makes an empty database, which is asked for at this URL, and is made and dropped at one that nobody breaks, on all nodes of a cluster
 * where that is one of them. The caller drops it.
 */
export async function freshDatabase(
  url = clickhouseUrl(),
  unbrokenUrl = clickhouseUrl(),
  cluster: string | null = null,
): Promise<FreshDatabase> {
  databases++;
  // The time tells it from those that a run before has left on a server.
  const name = `shieldlog_test_${Date.now()}_${process.pid}_${databases}`;
  const server = quietClient({ url: unbrokenUrl });
  const nodes = onCluster(cluster === null ? null : { name: cluster, database: name });
  await server.command({ query: `CREATE DATABASE ${name}${nodes}` });
  const client = quietClient({ url, database: name });
  return {
    name,
    url,
    client,
    drop: async () => {
      await client.close();
      // A node that is away drops it when it is back.
      await server.command({
        query: `DROP DATABASE IF EXISTS ${name}${nodes}`,
        clickhouse_settings: { distributed_ddl_output_mode: 'null_status_on_timeout' },
      });
      await server.close();
    },
  };
}

/** The same for the test that runs, at whose end it is dropped. */
export async function testDatabase(...where: Parameters<typeof freshDatabase>): Promise<FreshDatabase> {
  const database = await freshDatabase(...where);
  onTestFinished(() => database.drop());
  return database;
}

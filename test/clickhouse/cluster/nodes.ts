import { createClient } from '@clickhouse/client';
import { afterAll, inject, onTestFinished } from 'vitest';
import { type BreakableServer, breakable } from '../engine.ts';
import { BreakableProxy } from '../server/breakable-proxy.ts';
import { type ClusterProcess, startCluster } from './cluster-process.ts';
import type { NativeRelay } from './native-relay.ts';
import { CLOCK_TABLE, NodeRoutes } from './node-routes.ts';

/** The cluster of a test: two shards, each with a node that may be away, and have a clock of its own. */
export interface BreakableCluster {
  readonly nodes: readonly [BreakableServer, BreakableServer];
  /** The URL of a node that nobody breaks. */
  readonly url: string;
}

/**
 * Opens a way to a node of the shared cluster that a test may break: others reach the node all the same, and statements of the other nodes
 * have the clock of this machine. The nodes of {@link breakableCluster} are away, and have clocks, for each other, too.
 */
export async function breakableNode(shard: 1 | 2 = 1): Promise<BreakableServer> {
  const processes = inject('clusterProcesses');
  const routes = new NodeRoutes(processes);
  return breakable(await BreakableProxy.open(processes[shard - 1] as string, (asked) => routes.of(shard, asked)));
}

/** Moves the clock of a node to a time that is so many milliseconds ahead of this machine's. */
type MoveClock = (offsetMs: number) => Promise<void>;

/** The cluster of the test file, which starts with the first test that asks for it. */
let ofFile: Promise<ClusterProcess & { readonly clocks: readonly MoveClock[] }> | undefined;

afterAll(async () => {
  await (await ofFile)?.stop();
});

/** Gives a test a cluster that it may break. It is mended with the end of the test, and the next tests of the file get the same one. */
export async function breakableCluster(): Promise<BreakableCluster> {
  ofFile ??= startWithClocks();
  const { processes, relays, clocks } = await ofFile;
  const routes = new NodeRoutes(processes, true);
  const nodeOf = async (index: number): Promise<BreakableServer> => {
    const [shard, relay, moveClock] = [index + 1, relays[index] as NativeRelay, clocks[index] as MoveClock];
    const node = breakable(await BreakableProxy.open(processes[index] as string, (asked) => routes.of(shard, asked)));
    const comeBack = async (): Promise<void> => {
      await routes.comeBack(shard);
      await Promise.all([node.comeBack(), relay.comeBack()]);
    };
    const goAway = async (): Promise<void> => {
      routes.leave(shard);
      relay.goAway();
      await node.goAway();
    };
    onTestFinished(async () => {
      await comeBack();
      await moveClock(0);
    });
    return { ...node, goAway, comeBack, moveClock };
  };
  const unbroken = await BreakableProxy.open(processes[0] as string, (asked) => routes.of(1, asked));
  onTestFinished(() => unbroken.close());
  return { nodes: [await nodeOf(0), await nodeOf(1)], url: unbroken.url };
}

async function startWithClocks() {
  const cluster = await startCluster();
  return { ...cluster, clocks: await Promise.all(cluster.processes.map(clockOf)) };
}

async function clockOf(url: string): Promise<MoveClock> {
  const client = createClient({ url });
  const [database] = CLOCK_TABLE.split('.');
  await client.command({ query: `CREATE DATABASE ${database} ENGINE = Memory` });
  await client.command({ query: `CREATE TABLE ${CLOCK_TABLE} (ms Int64) ENGINE = Memory` });
  let aheadMs = 0;
  return async (offsetMs) => {
    await client.command({ query: `INSERT INTO ${CLOCK_TABLE} VALUES (${offsetMs - aheadMs})` });
    aheadMs = offsetMs;
  };
}

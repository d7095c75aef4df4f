import { createClient } from '@clickhouse/client';
import type { TestProject } from 'vitest/node';
import { type ClusterProcess, startCluster } from './cluster/cluster-process.ts';
import { NodeRoutes } from './cluster/node-routes.ts';
import { serverFolder } from './engine.ts';
import { BreakableProxy } from './server/breakable-proxy.ts';
import { type ServerProcess, startServer } from './server/server-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the tests share, with user and password if it has them. */
    readonly clickhouseUrl: string;
    /** The first node of the cluster that the tests share; empty where this machine cannot run one. */
    readonly clusterUrl: string;
    readonly clusterProcesses: readonly string[];
  }
}

/** The server of a run, which its projects share, though each of them loads this file for itself. */
const ofRun = globalThis as { clickhouseServer?: Promise<ServerProcess>; clickhouseCluster?: Promise<ClusterProcess | undefined> };

/**
 * Finds the server that the tests share: the one that CLICKHOUSE_URL names, or a process of its own. Says which it is. Fails the run where
 * it does not answer, or this machine cannot run one. With CLICKHOUSE_URL only the tests of users, kills and clusters need such a machine.
 */
export default async function setUpClickhouse(project: TestProject): Promise<() => Promise<void>> {
  const outside = process.env['CLICKHOUSE_URL'] ?? '';
  if (outside === '') ofRun.clickhouseServer ??= startServer(serverFolder());
  ofRun.clickhouseCluster ??= outside === '' ? startCluster() : startCluster().catch(tellOnly);
  const [server, cluster] = await Promise.all([ofRun.clickhouseServer, ofRun.clickhouseCluster]);
  const url = server?.url ?? outside;
  const client = createClient({ url });
  const answer = await client.query({ query: 'SELECT version()', format: 'TabSeparated' });
  const version = (await answer.text()).trim();
  await client.close();
  console.error(`ClickHouse ${version}: ${server === undefined ? new URL(outside).host : 'a process of this run'}`);
  project.provide('clickhouseUrl', url);
  const processes = cluster?.processes ?? [];
  const routes = new NodeRoutes(processes);
  const node = processes[0] === undefined ? undefined : await BreakableProxy.open(processes[0], (asked) => routes.of(1, asked));
  project.provide('clusterUrl', node?.url ?? '');
  project.provide('clusterProcesses', processes);
  return async () => {
    await node?.close();
    await Promise.all([server?.stop(), cluster?.stop()]);
  };
}

function tellOnly({ message }: Error): undefined {
  console.error(`Tests of users, kills and clusters fail. ${message}`);
}

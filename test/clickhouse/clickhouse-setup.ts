import { createClient } from '@clickhouse/client';
import type { TestProject } from 'vitest/node';
import { serverFolder } from './engine.ts';
import { type FrontProcess, startFronts } from './front/nodes.ts';
import { type ServerProcess, startServer } from './server/server-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the tests share, with user and password if it has them. */
    readonly clickhouseUrl: string;
    /** A front of chdb, which is a cluster. */
    readonly frontUrl: string;
    /** Where tests open and break nodes of clusters: those are fronts of chdb. */
    readonly frontControlUrl: string;
  }
}

/** The server of a run, which its projects share, though each of them loads this file for itself. */
const ofRun = globalThis as { clickhouseServer?: Promise<ServerProcess>; clickhouseFronts?: Promise<FrontProcess> };

/**
 * Finds the server that the tests share: the one that CLICKHOUSE_URL names, or a process of its own. Says which it is. Fails the run where
 * it does not answer, or this machine cannot run one.
 */
export default async function setUpClickhouse(project: TestProject): Promise<() => Promise<void>> {
  ofRun.clickhouseFronts ??= startFronts(serverFolder());
  const fronts = await ofRun.clickhouseFronts;
  project.provide('frontUrl', fronts.url);
  project.provide('frontControlUrl', fronts.controlUrl);
  const outside = process.env['CLICKHOUSE_URL'] ?? '';
  if (outside === '') ofRun.clickhouseServer ??= startServer(serverFolder());
  const server = await ofRun.clickhouseServer;
  const url = server?.url ?? outside;
  const client = createClient({ url });
  const answer = await client.query({ query: 'SELECT version()', format: 'TabSeparated' });
  const version = (await answer.text()).trim();
  await client.close();
  console.error(`ClickHouse ${version}: ${server === undefined ? new URL(outside).host : 'a process of this run'}`);
  project.provide('clickhouseUrl', url);
  return async () => {
    await server?.stop();
    await fronts.stop();
  };
}

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import type { TestProject } from 'vitest/node';
import { startFronts } from './engine.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that the tests share, with user and password if it has them. */
    readonly clickhouseUrl: string;
    /** A front of chdb, which is that server where CLICKHOUSE_URL names none. */
    readonly frontUrl: string;
    /** Where tests open and break servers of their own: those are always fronts of chdb. */
    readonly frontControlUrl: string;
  }
}

/**
 * Finds the server that the tests share: the one that CLICKHOUSE_URL names, or chdb behind a front. Says which it is. Fails the run where
 * it does not answer.
 */
export default async function setUpClickhouse(project: TestProject): Promise<() => Promise<void>> {
  const fronts = await startFronts(mkdtempSync(join(tmpdir(), 'shieldlog-clickhouse-')));
  const outside = process.env['CLICKHOUSE_URL'] ?? '';
  const url = outside === '' ? fronts.url : outside;
  const client = createClient({ url });
  const answer = await client.query({ query: 'SELECT version()', format: 'TabSeparated' });
  const version = (await answer.text()).trim();
  await client.close();
  console.error(`ClickHouse ${version}: ${outside === '' ? 'chdb behind a front' : new URL(outside).host}`);
  project.provide('clickhouseUrl', url);
  project.provide('frontUrl', fronts.url);
  project.provide('frontControlUrl', fronts.controlUrl);
  return () => fronts.stop();
}

import { join } from 'node:path';
import { startServer } from '../../test/clickhouse/server/server-process.ts';

/** A server of ClickHouse. */
export interface ClickhouseServer {
  readonly url: string;
  /** What it is, for the circumstances of a measurement. */
  readonly kind: string;
  /** Its process, where it is one of this machine's. */
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** The server of `CLICKHOUSE_URL`, or a process of its own with its data in a folder, as the tests have it. */
export async function clickhouseServer(folder: string): Promise<ClickhouseServer> {
  const given = process.env['CLICKHOUSE_URL'];
  if (given !== undefined) return { url: given, kind: 'CLICKHOUSE_URL', pid: undefined, close: async () => {} };
  const { url, pid, stop } = await startServer(join(folder, 'server'));
  return { url, kind: 'a process of this machine', pid, close: stop };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server of ClickHouse. */
export interface ClickhouseServer {
  readonly url: string;
  /** What it is, for the circumstances of a measurement. */
  readonly kind: string;
  /** Its process, where it is one of this machine's. */
  readonly pid: number | undefined;
  close(): Promise<void>;
}

const FRONT = fileURLToPath(new URL('../../test/clickhouse/main.ts', import.meta.url));

/** The server of `CLICKHOUSE_URL`, or the engine of `chdb` behind the tests' front, a process of its own with its data in a folder. */
export async function clickhouseServer(folder: string): Promise<ClickhouseServer> {
  const given = process.env['CLICKHOUSE_URL'];
  if (given !== undefined) {
    return { url: given, kind: 'CLICKHOUSE_URL', pid: undefined, close: async () => {} };
  }
  const child = spawn(process.execPath, [FRONT, join(folder, 'front')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Each running statement holds a thread of this pool.
    env: { ...process.env, UV_THREADPOOL_SIZE: '128' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: url } = await lines.next();
  if (url === undefined) throw new Error('the front of chdb did not start: its error stands above');
  return {
    url,
    kind: 'chdb behind a front',
    pid: child.pid,
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

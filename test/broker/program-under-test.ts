import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../..');
const LOG_LINES_KEPT = 200;

/** The whole program as a process of its own. */
export interface ProgramUnderTest {
  readonly pid: number;
  /** The address, for example `http://127.0.0.1:40123`. Rejects with the log of a program that ends before it listens. */
  readonly address: Promise<string>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Sends the signal and waits for the end; resolves with the exit code, or the signal that ended it. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string>;
  /** The last lines of its log. */
  log(): string;
}

/** Starts `serve` with these variables on a free port, in a Node with these arguments. */
export function startProgramProcess(variables: Readonly<Record<string, string>>, nodeArgs: readonly string[] = []): ProgramUnderTest {
  const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', DEMO: 'false', LOG_LEVEL: 'info', ...variables };
  const child = spawn(process.execPath, [...nodeArgs, 'src/main.ts', 'serve'], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] });
  // One that was left behind by a run that broke off would be there for ever.
  const killWithUs = (): boolean => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const exit = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => {
    process.off('exit', killWithUs);
    return code ?? signal ?? 'unknown';
  });
  const lines: string[] = [];
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    lines.splice(0, lines.length - LOG_LINES_KEPT);
    const address = /listening on (http:[^"\s]+)/.exec(line)?.[1];
    if (address !== undefined) {
      listening.resolve(address);
    }
  });
  void exit.then((result) => listening.reject(new Error(`the program ended with ${result} before it listened:\n${lines.join('\n')}`)));
  // Killed before it listened, and nobody asked.
  listening.promise.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    address: listening.promise,
    ended: exit,
    kill: async (signal) => {
      child.kill(signal);
      return await exit;
    },
    log: () => lines.join('\n'),
  };
}

/** How many events of the zone a search over HTTP finds in the last three days. */
export async function totalOverHttp(address: string, zone: number): Promise<number> {
  const now = Date.now();
  const response = await fetch(`${address}/shield/event-logs/${zone}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ from: now - 72 * 3_600_000, to: now + 60_000, pageSize: 1 }),
  });
  const body = await response.text();
  if (response.status !== 200) {
    throw new Error(`the search answered ${response.status}: ${body}`);
  }
  const { total } = JSON.parse(body) as { readonly total?: number };
  if (total === undefined) {
    throw new Error(`the search answered without a total: ${body}`);
  }
  return total;
}

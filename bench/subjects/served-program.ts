import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { NODE_OPTIONS } from '../../scripts/node-options.mjs';

/** The program in a process of its own. */
export interface ServedProgram {
  readonly child: ChildProcess;
  /** Without a slash at its end. */
  readonly url: string;
}

/** Starts the program on a free port of loopback, with further variables as in its environment; resolves once it listens. */
export async function serveProgram(dataDir: string, variables: Readonly<Record<string, string>> = {}): Promise<ServedProgram> {
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    HOST: '127.0.0.1',
    DEMO: 'false',
    UV_THREADPOOL_SIZE: '16',
    MALLOC_ARENA_MAX: '2',
    ...variables,
  };
  const child = spawn(process.execPath, [...NODE_OPTIONS, ...process.execArgv, 'src/main.ts', 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-10_000);
  });
  for (;;) {
    const url = /listening on (http:\/\/[^"\s]+)/.exec(log)?.[1];
    if (url !== undefined) return { child, url };
    if (child.exitCode !== null) throw new Error(`the program ended before it listened: ${log}`);
    await delay(20);
  }
}

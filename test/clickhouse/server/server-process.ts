import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../broker/free-port.ts';

/** A ClickHouse server of this machine, in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** The process that serves. */
  readonly pid: number;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
  /** Kills it without notice; its folder stays. */
  kill(): Promise<void>;
}

export interface ServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Where the native protocol is spoken. Default: nowhere. */
  readonly tcpPort?: number;
  /** What stands in `<clickhouse>` of the server's configuration. */
  readonly config?: string;
  /**
   * What stands in `<clickhouse>` of its users.xml: profiles, quotas, and users with their passwords and grants. `default`, who starts the
   * server, is one of them. Default: `default` alone, who has no password and may do everything.
   */
  readonly users?: string;
}

const STARTER = join(import.meta.dirname, 'clickhouse-server.py');
const PACKAGES = join(import.meta.dirname, '../../../bench/node_modules/@chdb');
/** What is dropped is gone at once: nobody undrops a table, and those of a run take more room than those of a test. */
const ROOM_CONFIG = '<database_atomic_delay_before_drop_table_sec>0</database_atomic_delay_before_drop_table_sec>';
/** A server that has not listened by then never does. */
const START_MS = 60_000;

/**
 * Starts a server in an empty folder, or in one that a killed server has left. Resolves once it takes requests. It ends with this process.
 * Rejects with one line where this machine cannot run it, and then the folder is gone, too.
 */
export async function startServer(folder: string, options: ServerOptions = {}): Promise<ServerProcess> {
  try {
    return await startedServer(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startedServer(folder: string, { port, tcpPort, config = '', users }: ServerOptions): Promise<ServerProcess> {
  const library = libraryOfThisMachine();
  mkdirSync(folder, { recursive: true });
  const [free] = await freePorts(1);
  const http = port ?? free;
  const files = { config: join(folder, 'config.xml'), users: join(folder, 'users.xml') };
  const usersConfig = users === undefined ? '' : `<users_config>${files.users}</users_config>`;
  writeFileSync(files.config, `<clickhouse>${ROOM_CONFIG}${usersConfig}${config}</clickhouse>`);
  if (users !== undefined) writeFileSync(files.users, `<clickhouse>${users}</clickhouse>`);
  const ports = [`--http_port=${http}`, ...(tcpPort === undefined ? [] : [`--tcp_port=${tcpPort}`])];
  // In a session of its own: what interrupts the tests does not end it before them, and it removes its folder after them.
  const starter = spawn('python3', [STARTER, library, folder, `--config-file=${files.config}`, ...ports], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const { value: pid } = await createInterface({ input: starter.stdout })[Symbol.asyncIterator]().next();
  const url = `http://127.0.0.1:${http}`;
  const stop = async (): Promise<void> => {
    starter.stdin.end();
    await ended(starter);
    rmSync(folder, { recursive: true, force: true });
  };
  await untilServing(url, starter).catch(async (error: unknown) => {
    starter.stdin.end();
    await ended(starter);
    throw error;
  });
  return {
    url,
    pid: Number(pid),
    stop,
    kill: async () => {
      process.kill(Number(pid), 'SIGKILL');
      await ended(starter);
    },
  };
}

/** The library of the package that bench/package.json installs for this system and processor. */
function libraryOfThisMachine(): string {
  const folder = join(PACKAGES, `lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`);
  const file = existsSync(folder) ? readdirSync(folder).find((name) => name.startsWith('libchdb.')) : undefined;
  if (file === undefined) throw cannotRun(`there is no ${folder}`);
  if (spawnSync('python3', ['--version']).status !== 0) throw cannotRun('there is no python3');
  return join(folder, file);
}

function cannotRun(why: string): Error {
  return new Error(`This machine cannot run the ClickHouse server of the tests, because ${why}: CLICKHOUSE_URL may name another`);
}

async function untilServing(url: string, starter: ChildProcess): Promise<void> {
  for (const untilMs = performance.now() + START_MS; performance.now() < untilMs; await delay(20)) {
    if (hasEnded(starter)) throw new Error('The ClickHouse server of the tests did not start: its error stands above');
    const response = await fetch(`${url}/ping`).catch(() => undefined);
    if (response?.ok) return;
  }
  throw new Error(`The ClickHouse server of the tests does not answer at ${url}`);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}

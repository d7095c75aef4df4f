import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { inject, onTestFinished } from 'vitest';
import type { ControlAnswer, ControlOrder } from './front/control.ts';
import type { Fault } from './front/faults.ts';

export type { Fault } from './front/faults.ts';

/** A process with fronts. */
export interface FrontProcess {
  readonly url: string;
  readonly controlUrl: string;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
  /** Kills it without notice; its folder stays. */
  kill(): Promise<void>;
}

/** A server that tests may break: it has a port, a clock, a list of running statements and faults of its own, over the shared engine. */
export interface BreakableServer {
  /** Its number at the control of the fronts. */
  readonly front: number;
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
  /** Moves the clock that now64 gives, from the engine's. */
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

const MAIN = join(import.meta.dirname, 'main.ts');

let databases = 0;

/**
 * Starts fronts in a process of their own, over an empty folder or one that a killed process has left. A port that is not given is a free
 * one.
 */
export async function startFronts(folder: string, port = 0): Promise<FrontProcess> {
  const child = spawn(process.execPath, [MAIN, folder, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Each running statement holds a thread of this pool.
    env: { ...process.env, UV_THREADPOOL_SIZE: '128', NODE_OPTIONS: '' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const [url, controlUrl] = [(await lines.next()).value, (await lines.next()).value];
  if (url === undefined || controlUrl === undefined) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error('The front of chdb did not start: its error stands above');
  }
  return {
    url,
    controlUrl,
    stop: () => {
      child.stdin.end();
      return ended(child);
    },
    kill: () => {
      child.kill('SIGKILL');
      return ended(child);
    },
  };
}

/** The URL of the server that this run uses, with user and password if it has them. */
export function clickhouseUrl(): string {
  return inject('clickhouseUrl');
}

/** The URL of a front of chdb that nobody breaks. */
export function frontUrl(): string {
  return inject('frontUrl');
}

/** Opens a server of its own for a test, which is closed with it. It has the databases of all fronts. */
export async function breakableServer(user = 'default', password = ''): Promise<BreakableServer> {
  const { number: front, url } = await control({ do: 'open', user, password });
  if (front === undefined || url === undefined) throw new Error('The control of the fronts opened none');
  const close = async (): Promise<void> => {
    await control({ do: 'close', front });
  };
  onTestFinished(close);
  return {
    front,
    url,
    user,
    password,
    break: async (fault) => (await control({ do: 'fault', front, fault })).number ?? 0,
    held: async (fault, count = 1) => (await control({ do: 'held', front, fault, count })).held ?? [],
    mend: async (fault) => void (await control({ do: 'release', front, ...(fault === undefined ? {} : { fault }) })),
    goAway: async () => void (await control({ do: 'away', front })),
    comeBack: async () => void (await control({ do: 'back', front })),
    moveClock: async (offsetMs) => void (await control({ do: 'clock', front, offsetMs })),
    close,
  };
}

/** A client that tells its errors to who asks, and not to standard error. */
export function quietClient(options: Parameters<typeof createClient>[0]): ClickHouseClient {
  return createClient({ ...options, log: { level: ClickHouseLogLevel.OFF } });
}

/** Makes a cluster of these servers, which `clusterAllReplicas('name', view(…))` asks on each of them. They all have the same data. */
export async function makeCluster(name: string, [first, ...others]: readonly BreakableServer[]): Promise<void> {
  if (first === undefined) throw new Error('A cluster has one server or more');
  await control({ do: 'cluster', front: first.front, name, others: others.map(({ front }) => front) });
}

/** Makes an empty database on the server of the run, or on a breakable one. The caller drops it. */
export async function freshDatabase(url = clickhouseUrl()): Promise<FreshDatabase> {
  databases++;
  // The time tells it from those that a run before has left on a server.
  const name = `shieldlog_test_${Date.now()}_${process.pid}_${databases}`;
  // Breakable servers have the databases of the front, which is never broken.
  const server = quietClient({ url: url === clickhouseUrl() ? url : frontUrl() });
  await server.command({ query: `CREATE DATABASE ${name}` });
  const client = quietClient({ url, database: name });
  return {
    name,
    url,
    client,
    drop: async () => {
      await client.close();
      await server.command({ query: `DROP DATABASE IF EXISTS ${name}` });
      await server.close();
    },
  };
}

/** The same for the test that runs, at whose end it is dropped. */
export async function testDatabase(url = clickhouseUrl()): Promise<FreshDatabase> {
  const database = await freshDatabase(url);
  onTestFinished(() => database.drop());
  return database;
}

async function control(order: ControlOrder): Promise<ControlAnswer> {
  const response = await fetch(inject('frontControlUrl'), { method: 'POST', body: JSON.stringify(order) });
  if (!response.ok) throw new Error(`The control of the fronts refused ${order.do}: ${await response.text()}`);
  return (await response.json()) as ControlAnswer;
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.signalCode === null) await exit;
}

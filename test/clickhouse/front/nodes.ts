import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import type { BreakableServer } from '../engine.ts';
import type { ControlAnswer, ControlOrder } from './control.ts';

/** A process with fronts. */
export interface FrontProcess {
  readonly url: string;
  readonly controlUrl: string;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

/** A server that may be a node of a cluster. */
export interface BreakableNode extends BreakableServer {
  /** Its number at the control of the fronts. */
  readonly front: number;
}

const MAIN = join(import.meta.dirname, 'main.ts');

/** Starts fronts in a process of their own, over an empty folder. */
export async function startFronts(folder: string): Promise<FrontProcess> {
  const child = spawn(process.execPath, [MAIN, folder], {
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
  };
}

/** The URL of a front of chdb that nobody breaks, which is a cluster. */
export function frontUrl(): string {
  return inject('frontUrl');
}

/** Opens a node of its own for a test, which is closed with it. It has the databases of all fronts. */
export async function breakableNode(): Promise<BreakableNode> {
  const [user, password] = ['default', ''];
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

/** Makes a cluster of these servers, which `clusterAllReplicas('name', view(…))` asks on each of them. They all have the same data. */
export async function makeCluster(name: string, [first, ...others]: readonly BreakableNode[]): Promise<void> {
  if (first === undefined) throw new Error('A cluster has one server or more');
  await control({ do: 'cluster', front: first.front, name, others: others.map(({ front }) => front) });
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

import { EdgeError } from '../../edge-error.ts';
import type { DatabaseProcess } from './database-process-handle.ts';

export interface PoolOptions {
  /** At most so many processes at once. */
  readonly most: number;
  /** How long somebody waits for one. */
  readonly queueMs: number;
  readonly start: () => Promise<DatabaseProcess>;
  /** Asked when there is none: whoever can do without may release one. */
  readonly reclaim: () => void;
}

export interface ProcessPool {
  /** A process without a connection. Throws EdgeError 503 when none becomes free in time. */
  take(): Promise<DatabaseProcess>;
  /** Gives one back: without a connection, or dead. */
  release(process: DatabaseProcess): void;
  /** Ends every process; resolves when they have ended. */
  stop(): Promise<void>;
}

/** Processes kept though nobody uses them: the next stream need not wait for one to start. */
const KEPT_IDLE = 2;

interface Waiter {
  serve(process: Promise<DatabaseProcess>): void;
}

/** Database processes, started when they are needed and used again. Whoever came first is served first. */
export function makeProcessPool({ most, queueMs, start, reclaim }: PoolOptions): ProcessPool {
  const idle: DatabaseProcess[] = [];
  const running = new Set<DatabaseProcess>();
  const waiters: Waiter[] = [];
  let started = 0;
  let stopped = false;

  async function startOne(): Promise<DatabaseProcess> {
    started += 1;
    try {
      const process = await start();
      running.add(process);
      if (stopped) await process.kill('stopped', 'the program is stopping');
      return process;
    } catch (error) {
      started -= 1;
      throw error;
    }
  }

  function available(): Promise<DatabaseProcess> | null {
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      if (next.isAlive()) return Promise.resolve(next);
      forget(next);
    }
    return started < most ? startOne() : null;
  }

  function forget(process: DatabaseProcess): void {
    if (running.delete(process)) started -= 1;
  }

  function serveNext(): void {
    if (waiters.length === 0) return;
    const process = available();
    if (process !== null) waiters.shift()?.serve(process);
  }

  function wait(): Promise<DatabaseProcess> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        serve(process) {
          clearTimeout(timer);
          resolve(process);
        },
      };
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(waiter), 1);
        reject(new EdgeError(503, 'TOO_MANY_STREAMS', `all ${most} database processes stayed busy for ${queueMs} ms`));
      }, queueMs);
      waiters.push(waiter);
      reclaim();
    });
  }

  return {
    async take() {
      if (stopped) throw new EdgeError(503, 'STOPPING', 'the program is stopping');
      return (waiters.length === 0 ? available() : null) ?? (await wait());
    },
    release(process) {
      if (!process.isAlive()) forget(process);
      else if (waiters.length > 0 || idle.length < KEPT_IDLE) idle.push(process);
      else {
        forget(process);
        void process.kill('stopped', 'not needed');
      }
      serveNext();
    },
    async stop() {
      stopped = true;
      await Promise.all([...running].map((process) => process.kill('stopped', 'the program is stopping')));
    },
  };
}

import { constants } from 'node:os';
import process from 'node:process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** `disconnect`: the launcher that started this program was killed. */
type StopSignal = (typeof SIGNALS)[number] | 'disconnect';

/**
 * Signals this soon after the first are copies of it. The terminal sends a Ctrl-C to every process of the group, and npm and the launcher
 * each pass theirs on.
 */
const ECHO_MS = 500;

const SHELL = '/bin/sh';

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly received: Promise<StopSignal>;
  /** Restores Node's own handling of the signals. */
  dispose(): void;
}

/** Listens for signals that stop the program. A second signal, other than a copy of the first, exits at once with 128 + its number. */
export function stopSignals(
  program: Pick<NodeJS.Process, 'on' | 'off'>,
  end: (status: number) => void = endProcess,
  nowMs: () => number = () => performance.now(),
): StopSignals {
  const { promise, resolve } = Promise.withResolvers<StopSignal>();
  let firstAtMs: number | null = null;
  const listener = (signal: NodeJS.Signals): void => {
    if (firstAtMs === null) {
      firstAtMs = nowMs();
      resolve(signal as StopSignal);
    } else if (nowMs() - firstAtMs > ECHO_MS) {
      end(128 + constants.signals[signal]);
    }
  };
  const onDisconnect = (): void => resolve('disconnect');
  for (const signal of SIGNALS) program.on(signal, listener);
  program.on('disconnect', onDisconnect);
  return {
    received: promise,
    dispose: () => {
      for (const signal of SIGNALS) program.off(signal, listener);
      program.off('disconnect', onDisconnect);
    },
  };
}

/** The time that work under way gets after the first signal. Many supervisors kill a process after 10 s. */
export const GRACE_MS = 5_000;

/** Ends work in two steps. */
export interface StopInSteps {
  /** Aborted by the first signal: nothing new begins. */
  readonly stopping: AbortController;
  /** Aborted `GRACE_MS` later: what is under way is given up. */
  readonly givenUp: AbortController;
  dispose(): void;
}

/** Listens for signals as `stopSignals` does. */
export function stopInSteps(): StopInSteps {
  const [stopping, givenUp] = [new AbortController(), new AbortController()];
  const signals = stopSignals(process);
  let grace: NodeJS.Timeout | undefined;
  void signals.received.then(() => {
    stopping.abort();
    grace = setTimeout(() => givenUp.abort(), GRACE_MS);
  });
  return {
    stopping,
    givenUp,
    dispose: () => {
      clearTimeout(grace);
      signals.dispose();
    },
  };
}

/**
 * Ends the process at once with this status. `process.exit` waits for all threads of libuv, and one in a long DuckDB statement or at a disk
 * that hangs returns late or never. Replacing the process by a shell ends all of its threads.
 */
export function endProcess(status: number): void {
  // Windows has no execve.
  if (process.execve === undefined) process.exit(status);
  process.execve(SHELL, ['sh', '-c', `exit ${status}`], {});
}

/** A signal ended a command before it was done. */
export class StoppedBySignal extends Error {
  override readonly name = 'StoppedBySignal';
  /** 128 and the signal's number, as the exit status of a shell's command has it. */
  readonly status: 129 | 130 | 143;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.status = signal === 'SIGHUP' ? 129 : signal === 'SIGINT' ? 130 : 143;
  }
}

import { constants } from 'node:os';
import { endProcess } from './end-process.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** `disconnect`: the launcher that started this program was killed. */
type StopSignal = (typeof SIGNALS)[number] | 'disconnect';

/**
 * One Ctrl-C arrives several times: the terminal sends it to every process of the group, and npm and the launcher each pass theirs on.
 * What comes this soon after the first is its echo.
 */
const ECHO_MS = 500;

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly received: Promise<StopSignal>;
  /** Gives the signals back to Node's own handling. */
  dispose(): void;
}

/**
 * Listens for the signals that ask the program to stop. A second one, after the echoes of the first, exits at once with 128 + its number.
 */
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

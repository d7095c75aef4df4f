// The program whose doors are measured, in a process of its own: node doors-subject.ts DATA_DIR. It sends its address, then its use of the
// processor since the last message for each message that it gets, and serves until its parent ends.
import process from 'node:process';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { startProgram } from '../../src/program.ts';

export interface DoorsServed {
  /** Without a slash at its end. */
  readonly url: string;
}

/** In milliseconds of CPU. */
export interface DoorsUse {
  /** Of all threads. */
  readonly cpuMs: number;
  readonly mainThreadMs: number;
  /** The longest turn of the main thread. */
  readonly longestTurnMs: number;
}

/** A timer fires in each turn in which it is due, so that two are one long turn apart, or short ones of this time. */
const LOOK_EVERY_MS = 1;

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

let [cpu, main] = [process.cpuUsage(), process.threadCpuUsage()];
let [lastMs, longestMs] = [0, 0];

function look(): void {
  const nowMs = milliseconds(process.threadCpuUsage());
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}

const onFatal = (error: Error): never => {
  throw error;
};
const config = loadConfig({ DATA_DIR: JSON.parse(process.argv[2] ?? '{}').dataDir, PORT: '0' });
const program = await startProgram({ config, now: Date.now, logger: pino({ level: 'silent' }), onFatal });
setInterval(look, LOOK_EVERY_MS).unref();
process.on('message', () => {
  look();
  const use: DoorsUse = {
    cpuMs: milliseconds(process.cpuUsage(cpu)),
    mainThreadMs: milliseconds(process.threadCpuUsage(main)),
    longestTurnMs: longestMs,
  };
  process.send?.(use);
  [cpu, main, longestMs] = [process.cpuUsage(), process.threadCpuUsage(), 0];
  lastMs = milliseconds(process.threadCpuUsage());
});
process.once('disconnect', () => void program.stop());
process.send?.({ url: program.address } satisfies DoorsServed);

// Runs in the program, before it (`node --import`), and tells its parent how long the program's main thread was held, in CPU time: what
// else runs on the machine does not count.
import process from 'node:process';

/**
 * Milliseconds. A timer fires in every turn of the event loop in which it is due: between two there is one long turn, or short ones of this
 * time.
 */
const LOOK_EVERY_MS = 5;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

let lastMs = cpuMs();
let longestMs = 0;

function look(): void {
  const nowMs = cpuMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}

setInterval(look, LOOK_EVERY_MS).unref();

/** Any message asks for the longest turn since the last one. */
process.on('message', () => {
  look();
  process.send?.({ longestTurnMs: longestMs });
  longestMs = 0;
});

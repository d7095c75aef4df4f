import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processorMs, threadTimes } from '../../../bench/compare/processor-time.ts';

/** Works for so many milliseconds of processor time whenever it is told to, in a thread of its own. */
const WORKER = `
  const { Worker } = require('node:worker_threads');
  const work = 'const { parentPort } = require("node:worker_threads"); parentPort.on("message", () => {' +
    'const end = process.cpuUsage().user + 60_000; while (process.cpuUsage().user < end); parentPort.postMessage(0); });';
  const worker = new Worker(work, { eval: true });
  worker.on('message', () => process.send('done'));
  process.on('message', () => worker.postMessage(0));
`;

test('the time of all threads of a process counts, and that of no other one', async () => {
  const child = spawn(process.execPath, ['-e', WORKER], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const turn = async (): Promise<void> => {
      const done = once(child, 'message');
      child.send('work');
      await done;
    };
    await turn();
    const pid = child.pid as number;
    const idle = [await threadTimes(pid), await threadTimes(pid)];
    await turn();
    const worked = await threadTimes(pid);
    if (idle[0] === undefined || idle[1] === undefined || worked === undefined) {
      expect(process.platform).not.toBe('linux');
      return;
    }
    expect(processorMs(idle[1], worked)).toBeGreaterThan(40);
    expect(processorMs(idle[0], idle[1])).toBeLessThan(40);
  } finally {
    child.kill();
  }
});

test('a thread that is new counts from its begin, one that has ended not at all', () => {
  const before = new Map([
    ['1', 5e6],
    ['2', 7e6],
  ]);
  const after = new Map([
    ['1', 6e6],
    ['3', 4e6],
  ]);
  expect(processorMs(before, after)).toBe(5);
});

test('a process that is not there has no times', async () => {
  expect(await threadTimes(2 ** 30)).toBeUndefined();
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Addressed } from './driven-answer.ts';

const LISTEN_AND_BLOCK = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
    process.exit();
  });
`;

/** More than the kernel keeps for a backlog of 1. */
const FILLING_CONNECTIONS = 4;

export interface DeafListener extends Addressed {
  stop(): Promise<void>;
}

/**
 * A port whose connections nobody accepts, and whose queue is full: whoever connects waits, as for a host behind a firewall that drops
 * packets.
 */
export async function startDeafListener(): Promise<DeafListener> {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(LISTEN_AND_BLOCK, { eval: true, workerData: bell });
  const [port] = (await once(worker, 'message')) as [number];
  const filling: Socket[] = Array.from({ length: FILLING_CONNECTIONS }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await once(filling[0] as Socket, 'connect');
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      for (const socket of filling) socket.destroy();
      const exited = once(worker, 'exit');
      Atomics.store(bell, 0, 1);
      Atomics.notify(bell, 0);
      await exited;
    },
  };
}

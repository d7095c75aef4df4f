import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '../../scripts/node-options.mjs';
import { inEmptyDataDir } from '../events/event-file.ts';

/** Starts a program under test, a file of this folder, with the options of the program, and of this process, which win. */
export function forkedSubject(file: string, order: object): ChildProcess {
  const execArgv = [...NODE_OPTIONS, ...process.execArgv];
  return fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(order)], { execArgv });
}

/**
 * Runs a program under test, a file of this folder, in a separate process with its order as JSON. Resolves with the one message that it
 * sends. Rejects if it ends with an error or without a message.
 */
export function forkSubject<Report>(file: string, order: object): Promise<Report> {
  const child = forkedSubject(file, order);
  return new Promise((resolve, reject) => {
    let report: Report | undefined;
    child.on('message', (message) => {
      report = message as Report;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (report === undefined || code !== 0) {
        reject(new Error(`the program under test ended with ${code ?? signal}${report === undefined ? ' before it reported' : ''}`));
      } else {
        resolve(report);
      }
    });
  });
}

/** Runs a program under test once, on an empty folder that is removed afterwards. */
export function runSubject<Order extends { readonly dataDir: string }, Report>(
  file: string,
  order: Omit<Order, 'dataDir'>,
): Promise<Report> {
  return inEmptyDataDir('store', (dataDir) => forkSubject<Report>(file, { ...order, dataDir }));
}

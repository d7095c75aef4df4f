import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inEmptyDataDir } from '../events/event-file.ts';

/**
 * Runs a program under test, a file of this folder, in a separate process with its order as JSON. Resolves with the one message that it
 * sends. Rejects if it ends with an error or without a message.
 */
export function forkSubject<Report>(file: string, order: object): Promise<Report> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(order)]);
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

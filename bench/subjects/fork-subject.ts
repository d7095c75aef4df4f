import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs one of the programs under test, a file of this folder, in a process of its own with what it is to do; resolves with the one message
 * it sends. Rejects when it ends in another way than by itself and well.
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

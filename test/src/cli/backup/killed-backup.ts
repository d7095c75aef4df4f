import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

// Runs in a command, before it (`node --import`), which is killed at one of its operations on files.

let left = Number(process.env['KILLED_AT']);

for (const name of ['mkdir', 'open', 'rename', 'rm'] as const) {
  const operation = files[name] as (...values: unknown[]) => unknown;
  Object.assign(files, {
    [name]: (...values: unknown[]) => {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return operation(...values);
    },
  });
}

syncBuiltinESMExports();

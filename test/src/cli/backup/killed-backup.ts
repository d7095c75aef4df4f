import { cpSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

// Runs in a command, before it (`node --import`). It is killed at its operation KILLED_AT on files. Without that it goes on to its end, and
// KEPT_IN gets a copy of the folder COPIED at each of its operations: what a kill leaves there at that moment.

const { KILLED_AT, COPIED = '', KEPT_IN = '' } = process.env;
let operations = 0;

for (const name of ['mkdir', 'open', 'rename', 'rm'] as const) {
  const operation = files[name] as (...values: unknown[]) => unknown;
  Object.assign(files, {
    [name]: (...values: unknown[]) => {
      operations += 1;
      if (KILLED_AT === undefined) cpSync(COPIED, join(KEPT_IN, String(operations)), { recursive: true });
      else if (operations === Number(KILLED_AT)) process.kill(process.pid, 'SIGKILL');
      return operation(...values);
    },
  });
}

syncBuiltinESMExports();

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

const SCRIPT = fileURLToPath(new URL('./without-descriptors.ts', import.meta.url));

test('a file for which the process has no descriptor left is opened by a later attempt', async () => {
  const path = join(temporaryFolder(), 'events.ndjson');
  const command = ['-c', 'ulimit -n 256 && exec "$0" "$@"', process.execPath, SCRIPT, path];
  const child = spawn('/bin/sh', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  expect(await json(child.stdout)).toEqual([expect.stringMatching(`^unavailable: ${path} cannot be opened: EMFILE`), 'opened']);
});

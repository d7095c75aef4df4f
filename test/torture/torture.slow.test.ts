import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'torture.ts');

test.each([
  [['--minutes', '0'], '--minutes is "0"; allowed: a number above 0, up to 1440'],
  [['--minutes', 'ten'], '--minutes is "ten"; allowed: a number above 0, up to 1440'],
  [['--seed', '1.5'], '--seed is "1.5"; allowed: an integer from -2147483648 to 2147483647'],
  [['--store', 'duckdb'], '--store is "duckdb"; allowed: embedded, clickhouse'],
  [['--sed', '1'], "Unknown option '--sed'"],
])('%j is refused', (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
  expect(stderr).toContain(message);
  expect(status).toBe(2);
});

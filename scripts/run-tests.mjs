// Runs vitest with the given arguments and prints a line `N passed, N failed` after everything else.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'shieldlog-tests-'));
const countsFile = join(folder, 'counts.json');

const args = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--reporter=default',
  `--reporter=${join(root, 'scripts/test-count-reporter.mjs')}`,
];
const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SHIELDLOG_TEST_COUNTS: countsFile },
});
// An interrupted vitest ends the processes of its tests, such as a broker. A terminated one does not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGINT'));
// The tests end when the launcher is killed.
process.once('disconnect', () => child.kill());
// The channel must not keep this process running.
process.channel?.unref();

child.on('exit', (code) => {
  let counts;
  try {
    counts = JSON.parse(readFileSync(countsFile, 'utf8'));
  } catch (error) {
    process.stderr.write(`The test run ended before it could count its tests: ${error.message}\n`);
    counts = { passed: 0, failed: 1 };
  }
  rmSync(folder, { recursive: true, force: true });
  // A run may fail outside of all tests.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed === 0 ? 0 : code || 1;
});

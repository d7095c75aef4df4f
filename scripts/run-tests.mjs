// Runs vitest with the given arguments and prints, after everything else, which projects and files took how long, and `N passed, N failed`.
//
// Where RUN_ALONE_LATER names a file, a test file that failed by nothing but time limits does not count as failed: it is written there, as
// a line of JSON, for whoever runs it once more, alone.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryRoot } from './temporary-root.mjs';

const SLOWEST = 10;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = temporaryRoot();
const summaryFile = join(folder, 'summary.json');
const laterFile = process.env.RUN_ALONE_LATER;

const args = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--reporter=default',
  `--reporter=${join(root, 'scripts/test-summary-reporter.mjs')}`,
];
const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: {
    // The programs that tests start are compiled once.
    NODE_COMPILE_CACHE: join(root, '.cache/node-compile'),
    ...process.env,
    // The temporary folders of tests, which go with the run.
    TMPDIR: folder,
    SHIELDLOG_TEST_SUMMARY: summaryFile,
  },
});
// An interrupted vitest ends the processes of its tests, such as a broker. A terminated one does not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGINT'));
// The tests end when the launcher is killed.
process.once('disconnect', () => child.kill());
// The channel must not keep this process running.
process.channel?.unref();

function readSummary() {
  try {
    return JSON.parse(readFileSync(summaryFile, 'utf8'));
  } catch (error) {
    process.stderr.write(`The test run ended before it could count its tests: ${error.message}\n`);
    return { files: [], errors: 1 };
  }
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function printTimes(files) {
  const byProject = Map.groupBy(files, ({ project }) => project);
  const projects = [...byProject].map(([project, own]) => `${project} ${sum(own.map(({ seconds }) => seconds)).toFixed(0)}`);
  process.stdout.write(`\nseconds by project: ${projects.join(', ')}\nslowest files:\n`);
  for (const { seconds, project, file } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)) {
    process.stdout.write(`${seconds.toFixed(1).padStart(7)} s  ${project}  ${file}\n`);
  }
}

child.on('exit', (code) => {
  const { files, errors } = readSummary();
  rmSync(folder, { recursive: true, force: true });
  const later = laterFile === undefined ? [] : files.filter(({ failed, isByTimeAlone }) => failed > 0 && isByTimeAlone);
  for (const each of later) appendFileSync(laterFile, `${JSON.stringify(each)}\n`);
  const passed = sum(files.map((file) => file.passed));
  let failed = errors + sum(files.filter((file) => !later.includes(file)).map((file) => file.failed));
  // A run may fail outside of all tests.
  if (code !== 0 && failed === 0 && later.length === 0) failed = 1;
  if (files.length > 1) printTimes(files);
  for (const { file } of later) process.stdout.write(`by a time limit alone, to be run again: ${file}\n`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : code || 1;
});

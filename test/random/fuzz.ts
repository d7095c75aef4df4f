import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { COUNTEREXAMPLES_FILE, type Counterexample, FINDINGS_VARIABLE } from './counterexamples.ts';
import { RESULTS_VARIABLE, type TriedFile } from './fuzz-reporter.ts';
import { minutesAndSeed } from './run-arguments.ts';

// `npm run fuzz -- --minutes N [--seed S] [PATH…]`: tries every property with new seeds, round after round, until the time is up or it is
// interrupted.

const CHECKOUT = join(import.meta.dirname, '../..');
const USAGE = 'usage: npm run fuzz -- [--minutes N] [--seed S] [PATH…]; a PATH is a file or folder of test/';

/** How a test file did over all rounds. */
interface FileRecord {
  rounds: number;
  failed: number;
  counterexamples: number;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

function given(): { readonly minutes: number; readonly seed: number; readonly paths: readonly string[] } {
  const { values, positionals } = parse();
  const { minutes, seed } = minutesAndSeed(values, fail);
  return { minutes, seed, paths: positionals.map((path) => resolve(path)) };
}

function parse() {
  try {
    return parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Every test file that imports fast-check, itself or by way of other files of `test/`. */
function filesWithProperties(): readonly string[] {
  const all = readdirSync(join(CHECKOUT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(CHECKOUT, 'test', path));
  const texts = new Map(all.map((path) => [path, readFileSync(path, 'utf8')]));
  const using = new Set(all.filter((path) => /^import .* from 'fast-check';$/m.test(texts.get(path) ?? '')));
  for (let before = 0; before < using.size; ) {
    before = using.size;
    for (const [path, text] of texts) {
      const imports = [...text.matchAll(/^(?:import|\}) .*?from '(\.[^']+)'/gm)].map(([, to = '']) => join(dirname(path), to));
      if (imports.some((to) => using.has(to))) using.add(path);
    }
  }
  return [...using].filter((path) => path.endsWith('.test.ts')).map((path) => relative(CHECKOUT, path));
}

/** Resolves when the round is through, or has been cut off because `ended` was aborted. */
function round(files: readonly string[], env: NodeJS.ProcessEnv, ended: AbortSignal): Promise<void> {
  const reporter = join(import.meta.dirname, 'fuzz-reporter.ts');
  const args = [join(CHECKOUT, 'node_modules/vitest/vitest.mjs'), 'run', `--reporter=${reporter}`, ...files];
  const child = spawn(process.execPath, args, { cwd: CHECKOUT, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });
  const cutOff = (): void => interrupt(child);
  ended.addEventListener('abort', cutOff);
  return new Promise((finish, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      ended.removeEventListener('abort', cutOff);
      finish();
    });
  });
}

/** An interrupted vitest ends the processes of its tests. */
function interrupt(child: ChildProcess): void {
  child.kill('SIGINT');
  setTimeout(() => child.kill('SIGKILL'), 60_000).unref();
}

function readLines<T>(path: string): readonly T[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Returns those that were not kept before. */
function keep(found: readonly Counterexample[]): readonly Counterexample[] {
  const kept = new Map((JSON.parse(readFileSync(COUNTEREXAMPLES_FILE, 'utf8')) as Counterexample[]).map((each) => [identity(each), each]));
  const added = [...new Map(found.map((each) => [identity(each), each])).values()].filter((each) => !kept.has(identity(each)));
  if (added.length > 0) writeFileSync(COUNTEREXAMPLES_FILE, `${JSON.stringify([...kept.values(), ...added], null, 2)}\n`);
  return added;
}

const identity = ({ file, name, part, dataSeed, values }: Counterexample): string => JSON.stringify([file, name, part, dataSeed, values]);

function printTable(records: ReadonlyMap<string, FileRecord>): void {
  const rows = [...records].sort(([a], [b]) => a.localeCompare(b));
  const width = Math.max(...rows.map(([file]) => file.length), 4);
  process.stdout.write(`\n${'file'.padEnd(width)}  rounds  failed  new counterexamples\n`);
  for (const [file, { rounds, failed, counterexamples }] of rows) {
    const cells = [rounds, failed, counterexamples].map((count, index) => String(count).padStart([6, 6, 19][index] ?? 0));
    process.stdout.write(`${file.padEnd(width)}  ${cells.join('  ')}\n`);
  }
}

const { minutes, seed: first, paths } = given();
const files = filesWithProperties().filter((file) => paths.length === 0 || paths.some((path) => join(CHECKOUT, file).startsWith(path)));
if (files.length === 0) fail(`no file with a property is in ${paths.join(', ')}`);
const records = new Map<string, FileRecord>(files.map((file) => [file, { rounds: 0, failed: 0, counterexamples: 0 }]));
const folder = mkdtempSync(join(tmpdir(), 'shieldlog-fuzz-'));
const endAt = performance.now() + minutes * 60_000;
const ended = new AbortController();
setTimeout(() => ended.abort(), minutes * 60_000).unref();
process.on('SIGINT', () => ended.abort());

for (let number = 0; !ended.signal.aborted; number += 1) {
  const seed = (first + number) | 0;
  const minutesLeft = Math.ceil((endAt - performance.now()) / 60_000);
  process.stdout.write(`round ${number + 1}: --seed ${seed}, ${minutesLeft} minutes left\n`);
  const [findings, results] = [join(folder, `findings-${number}`), join(folder, `results-${number}`)];
  await round(files, { SEED: String(seed), [FINDINGS_VARIABLE]: findings, [RESULTS_VARIABLE]: results }, ended.signal);
  for (const { file, failures } of readLines<TriedFile>(results)) {
    const record = records.get(file);
    if (record === undefined) continue;
    record.rounds += 1;
    if (failures > 0) record.failed += 1;
  }
  for (const { file, name, part } of keep(readLines<Counterexample>(findings))) {
    const record = records.get(file);
    if (record !== undefined) record.counterexamples += 1;
    process.stdout.write(`kept a counterexample in ${relative(CHECKOUT, COUNTEREXAMPLES_FILE)}: ${[file, name, part].join(' | ')}\n`);
  }
}
rmSync(folder, { recursive: true });
printTable(records);
process.exitCode = [...records.values()].some(({ failed, counterexamples }) => failed + counterexamples > 0) ? 1 : 0;

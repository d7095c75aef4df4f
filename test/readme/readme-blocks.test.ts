import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePorts } from '../broker/free-port.ts';
import { createTopic } from '../broker/test-topic.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type MovedClock, movedClock } from './moved-clock.ts';
import { readmeBlocks, shapeOfOutput, withOutputs } from './readme-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = join(ROOT, 'README.md');
const MARKDOWN = readFileSync(README, 'utf8');
const BLOCKS = readmeBlocks(MARKDOWN);
/** The blocks that end the demonstration and start the program with Kafka. */
const SERVES = BLOCKS.flatMap(({ commands }, index) => (commands.includes('npm run serve') ? [index] : []));
/** When the examples begin: an hour in which every kind of event is frequent. */
const START_MS = Date.UTC(2026, 11, 1, 18, 20);
/** So long somebody reads before going on to the next block. */
const BETWEEN_BLOCKS_MS = 3 * 60_000;

let folder: string;
let clone: string;
let clock: MovedClock;
let env: NodeJS.ProcessEnv;
let port: number;
let shell: ChildProcess;
let program: ChildProcess | null = null;
const outputs: string[] = [];

/** Throws one line where a command that the README says one needs is not there. */
function requireCommands(): void {
  const missing = ['jq', 'kcat', 'curl'].filter((name) => spawnSync(name, ['--version']).error !== undefined);
  const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
  if (!missing.includes('curl') && (Number(major) < 7 || (Number(major) === 7 && Number(minor) < 82))) missing.push('curl 7.82 or later');
  if (missing.length > 0) throw new Error(`the README's examples need ${missing.join(', ')} (apt-get install jq kcat curl)`);
}

/** A clone of the checkout as it stands, changes included, with the packages of this one. */
function makeClone(): void {
  const git = (cwd: string, ...args: string[]): string => execFileSync('git', ['-C', cwd, ...args], { encoding: 'utf8', stdio: 'pipe' });
  execFileSync('git', ['clone', '-q', ROOT, clone]);
  const changes = git(ROOT, 'diff', '--binary', 'HEAD');
  if (changes !== '') {
    execFileSync('git', ['-C', clone, 'apply', '--index', '-'], { input: changes });
    git(clone, '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'what is not committed yet');
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
}

/** The addresses of this run in the place of those that the README has. */
function here(commands: string): string {
  return commands
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:9092', inject('kafkaBrokers'))
    .replaceAll(/shieldlog -- (ingest|feed)\b/g, `$& --url http://127.0.0.1:${port}`);
}

/** And the other way round, for what the README is to show. */
function asInReadme(output: string): string {
  return output
    .replaceAll('\r\n', '\n')
    .replaceAll(`127.0.0.1:${port}`, '127.0.0.1:8080')
    .replaceAll(clone, '/home/me/shieldlog')
    .replaceAll(join(folder, 'home'), '/home/me');
}

/** Starts a program in a process group of its own; resolves when it is ready. */
async function startProgram(command: string): Promise<void> {
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd: clone, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  program = child;
  let [log, isFilled] = ['', false];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log = `${log}${line}\n`.slice(-10_000);
    isFilled ||= line.includes('the demo feed has filled the past');
  });
  await eventually(
    'the program is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${log}`);
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      return ready?.status === 200 && (isFilled || !command.includes('start'));
    },
    240_000,
  );
}

async function stopProgram(): Promise<void> {
  const child = program;
  program = null;
  if (child?.pid === undefined || child.exitCode !== null) return;
  process.kill(-child.pid, 'SIGTERM');
  await eventually('the program has ended', () => child.exitCode !== null || child.signalCode !== null);
}

/** Runs a block in the one shell of all blocks; resolves with its exit status and what it wrote. */
async function runBlock(index: number, commands: string): Promise<{ readonly status: number; readonly output: string }> {
  const [file, out] = [join(folder, `block-${index}.sh`), join(folder, `block-${index}.out`)];
  writeFileSync(file, commands);
  const { promise, resolve } = Promise.withResolvers<number>();
  shell.stdout?.once('data', (status) => resolve(Number(status)));
  shell.stdin?.write(`. '${file}' > '${out}' 2>&1 < /dev/null; echo $?\n`);
  const status = await promise;
  return { status, output: asInReadme(readFileSync(out, 'utf8')) };
}

beforeAll(async () => {
  requireCommands();
  // The name of a folder that people have: with a blank in it.
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'shieldlog readme ')));
  clone = join(folder, 'shieldlog');
  mkdirSync(join(folder, 'home'));
  makeClone();
  clock = movedClock(folder, START_MS);
  [port = 0] = await freePorts(1);
  env = { HOME: join(folder, 'home'), LANG: 'C.UTF-8', PORT: String(port), MEMORY_LIMIT_MB: '512', ...clock.env };
  // It may be a broker that has the topic already.
  await createTopic(inject('kafkaBrokers'), 'shield-events', 1).catch((error: Error) => {
    if (!error.message.includes('already exists')) throw error;
  });
  await startProgram('npm start');
  shell = spawn('sh', [], { cwd: clone, env, stdio: ['pipe', 'pipe', 'inherit'] });
});

afterAll(async () => {
  shell?.stdin?.end();
  await stopProgram();
  rmSync(folder, { recursive: true, force: true });
});

describe("the README's blocks, one after the other, with minutes between them", () => {
  test.each(BLOCKS.map((block, index) => ({ ...block, index, first: block.commands.split('\n', 1)[0]?.slice(0, 100) })))(
    '$index: $first',
    async ({ commands, output: promised, index }) => {
      clock.setForward(BETWEEN_BLOCKS_MS);
      if (SERVES.includes(index)) {
        await stopProgram();
        await startProgram(`env ${here(commands)}`);
        return;
      }
      const { status, output } = await runBlock(index, here(commands));
      outputs[index] = output;
      expect([status, output]).toEqual([0, expect.any(String)]);
      if (process.env['UPDATE_README'] === undefined) expect(shapeOfOutput(output)).toEqual(shapeOfOutput(promised ?? ''));
    },
  );

  test('start the program with Kafka once', () => {
    expect(SERVES).toHaveLength(1);
  });

  test('leave nothing that git would want to add', () => {
    const status = execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' });
    expect(status).toBe('');
    expect(outputs.filter(Boolean).length).toBeGreaterThan(20);
    // The outputs that the README shows are those of such a run.
    if (process.env['UPDATE_README'] !== undefined) writeFileSync(README, withOutputs(MARKDOWN, outputs));
  });
});

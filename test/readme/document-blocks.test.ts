import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePorts } from '../broker/free-port.ts';
import { createTopic } from '../broker/test-topic.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type MovedClock, movedClock } from '../fixtures/moved-clock.ts';
import { runnableDocuments, shapeOfOutput, withOutputs } from './document-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = runnableDocuments(ROOT);
/** The examples of each document begin at this time, because every kind of event is frequent in that hour. */
const START_MS = Date.UTC(2026, 11, 1, 18, 20);
/** The time for which a reader reads before the next block. */
const BETWEEN_BLOCKS_MS = 3 * 60_000;

let folder: string;
let clone: string;
let clock: MovedClock;
let env: NodeJS.ProcessEnv;
let port: number;
let shell: ChildProcess;
let program: ChildProcess | null = null;

/** Throws an error of one line where a command is missing that the README says one needs. */
function requireCommands(): void {
  const missing = ['jq', 'kcat', 'curl'].filter((name) => spawnSync(name, ['--version']).error !== undefined);
  const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
  if (!missing.includes('curl') && (Number(major) < 7 || (Number(major) === 7 && Number(minor) < 82))) missing.push('curl 7.82 or later');
  if (missing.length > 0) throw new Error(`the documents' examples need ${missing.join(', ')} (apt-get install jq kcat curl)`);
}

/** Clones the checkout as it stands, with its uncommitted changes and its packages. */
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

/** Replaces the addresses of the documents with those of this run. */
function here(commands: string): string {
  return commands
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:9092', inject('kafkaBrokers'))
    .replaceAll(/shieldlog -- (ingest|feed|search|groups|tail|export|alerts test)\b/g, `$& --url http://127.0.0.1:${port}`);
}

/** Replaces the addresses and folders of this run with those that the documents show. */
function asInDocument(output: string): string {
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
  await eventually('all processes of the program have ended', () => !isGroupAlive(child.pid ?? 0));
}

/** The program may still stop when the npm that started it has ended. */
function isGroupAlive(groupId: number): boolean {
  try {
    return process.kill(-groupId, 0);
  } catch {
    return false;
  }
}

/** Runs a block in the shell of its document; resolves with its exit status and what it wrote. */
async function runBlock(commands: string): Promise<{ readonly status: number; readonly output: string }> {
  const [file, out] = [join(folder, 'block.sh'), join(folder, 'block.out')];
  writeFileSync(file, commands);
  const { promise, resolve } = Promise.withResolvers<number>();
  shell.stdout?.once('data', (status) => resolve(Number(status)));
  shell.stdin?.write(`. '${file}' > '${out}' 2>&1 < /dev/null; echo $?\n`);
  const status = await promise;
  return { status, output: asInDocument(readFileSync(out, 'utf8')) };
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
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('the documents are more than the README', () => {
  expect(DOCUMENTS.length).toBeGreaterThan(5);
});

describe.each(DOCUMENTS)('the blocks of $path, one after the other, with minutes between them', ({ path, markdown, blocks }) => {
  const outputs: string[] = [];

  beforeAll(async () => {
    clock.set(START_MS);
    rmSync(join(clone, 'data'), { recursive: true, force: true });
    await startProgram('npm start');
    shell = spawn('sh', [], { cwd: clone, env, stdio: ['pipe', 'pipe', 'inherit'] });
  });

  afterAll(async () => {
    shell?.stdin?.end();
    await stopProgram();
  });

  test('the document says in which state they begin', () => {
    expect(markdown.replaceAll(/\s+/g, ' ')).toMatch(
      /The commands? below (run as they are|runs as it is)[^.]* against a fresh `npm start`/,
    );
  });

  test.each(blocks.map((block, index) => ({ ...block, index, first: block.commands.split('\n', 1)[0]?.slice(0, 100) })))(
    '$index: $first',
    async ({ commands, output: promised, index }) => {
      clock.setForward(BETWEEN_BLOCKS_MS);
      if (commands.includes('npm run serve')) {
        await stopProgram();
        await startProgram(`env ${here(commands)}`);
        return;
      }
      const { status, output } = await runBlock(here(commands));
      outputs[index] = output;
      expect([status, output]).toEqual([0, expect.any(String)]);
      if (process.env['UPDATE_README'] === undefined) expect(shapeOfOutput(output)).toEqual(shapeOfOutput(promised ?? ''));
    },
  );

  test('leave nothing that git would want to add; UPDATE_README=1 writes their outputs', () => {
    const status = execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' });
    expect(status).toBe('');
    expect(outputs.some(Boolean)).toBe(true);
    if (process.env['UPDATE_README'] !== undefined) writeFileSync(join(ROOT, path), withOutputs(markdown, outputs));
  });
});

test('one block of the README starts the program with Kafka', () => {
  const [readme] = DOCUMENTS;
  expect(readme?.blocks.filter(({ commands }) => commands.includes('npm run serve'))).toHaveLength(1);
});

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, eventLine, ingest } from '../running-app.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from './cli-process.ts';

let folder: string;
let dataDir: string;
const umask = process.umask();

beforeEach(() => {
  // The usual one, which lets everybody read.
  process.umask(0o022);
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-access-'));
  dataDir = join(folder, 'data');
});

afterEach(async () => {
  await killAll();
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

const serve = (): CliProcess => startCli(['serve', '--port', '0', '--data-dir', dataDir]);

/** Everything in DATA_DIR that others than the owner have a permission on, DATA_DIR itself included. */
function openToOthers(): string[] {
  return [dataDir, ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(dataDir, name))]
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => relative(folder, path));
}

async function stop(program: CliProcess): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
}

describe('DATA_DIR', () => {
  test('is readable by its owner alone, with all that the program and its commands make in it', async () => {
    const program = serve();
    const url = await addressOf(program);
    await ingest({ url }, eventLine());
    await ask({ url }, '/dnszone', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"Domain":"example.org"}' });
    const tokens = await runCli(['tokens', 'generate', '--data-dir', dataDir]);
    const [, token] = tokens.stdout.split(/\s/);
    await ask({ url }, '/v2/pipeline', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ requests: [{ type: 'execute', stmt: { sql: 'CREATE TABLE t (a)' } }] }),
    });
    const names = readdirSync(dataDir);
    for (const name of ['journal', 'catalog.sqlite', 'control-plane.sqlite', 'database.sqlite']) expect(names).toContain(name);
    expect(openToOthers()).toEqual([]);
    await stop(program);
    expect(openToOthers()).toEqual([]);
    expect(program.stderr()).not.toContain('chmod');
  });

  test('is readable by its owner alone where `tokens` writes to it while no program runs', async () => {
    await stop(await started(serve()));
    rmSync(join(dataDir, 'control-plane.sqlite'));
    expect((await runCli(['tokens', 'generate', '--data-dir', dataDir])).status).toBe(0);
    expect(openToOthers()).toEqual([]);
  });

  test('that is open to others is told of once at start', async () => {
    mkdirSync(dataDir, { mode: 0o755 });
    const program = await started(serve());
    await stop(program);
    const told = program.stderr().match(/[^\n]*chmod 700[^\n]*/g) ?? [];
    expect(told.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: 40, dataDir, mode: '755' })]);
  });

  const entries = [
    'journal',
    'segments',
    'links',
    'spill',
    'catalog.sqlite',
    'control-plane.sqlite',
    'database.sqlite',
    'control-plane.sqlite-wal',
  ];

  test.each(entries)('with a link instead of %s is refused by name, and the target stays as it is', async (name) => {
    const target = join(folder, 'elsewhere');
    const isFile = name.includes('.');
    if (!isFile) mkdirSync(target);
    const file = isFile ? target : join(target, 'precious.txt');
    writeFileSync(file, 'precious');
    mkdirSync(dataDir, { mode: 0o700 });
    symlinkSync(target, join(dataDir, name));
    for (const command of [
      ['serve', '--port', '0'],
      ['tokens', 'generate'],
    ]) {
      const { status, stderr } = await runCli([...command, '--data-dir', dataDir]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/^shieldlog: [^\n]+\n$/);
      expect(stderr).toContain(`${JSON.stringify(join(dataDir, name))} is a symbolic link`);
    }
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(readdirSync(dataDir)).toEqual([name]);
  });

  test('may be a link itself', async () => {
    mkdirSync(join(folder, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(folder, 'elsewhere'), dataDir);
    await stop(await started(serve()));
  });
});

async function started(program: CliProcess): Promise<CliProcess> {
  await addressOf(program);
  return program;
}

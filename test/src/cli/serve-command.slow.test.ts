import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CONFIG_VARIABLES, flagOf } from '../../../src/config/config-table.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, search } from '../running-app.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from './cli-process.ts';
import { runHere } from './command-run.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-cli-'));
});

afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

const serve = (...flags: string[]): CliProcess => startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data'), ...flags]);

/** What was told to people on the way to a failure: one line. */
const oneLine = /^shieldlog: [^\n]+\n$/;

describe('shieldlog serve', () => {
  test('starts on an empty folder, serves, and on SIGTERM finishes with status 0', async () => {
    const program = serve();
    const url = await addressOf(program);
    expect((await ask({ url }, '/readyz')).body).toEqual({ status: 'ready', reasons: [] });
    expect((await ingest({ url }, eventLine())).body.accepted).toBe(1);
    expect((await search({ url }, lastHour())).body.total).toBe(1);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.stdout()).toBe('');
    for (const line of program.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  test('makes the page ready before anybody asks for it, and says so where that fails', async () => {
    const [runs, runner] = [join(folder, 'runs'), join(folder, 'esbuild')];
    const bundler = (command: string): void => writeFileSync(runner, `#!/bin/sh\necho run >>'${runs}'\n${command}\n`, { mode: 0o755 });
    const times = (): number => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0);
    bundler('exit 3');
    const program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')], { ESBUILD_BINARY_PATH: runner });
    const url = await addressOf(program);
    await eventually('the failure is told', () => program.stderr().includes('the page could not be made ready'));
    expect(times()).toBe(1);
    expect((await ask({ url }, '/')).status).toBe(500);
    bundler(`exec '${createRequire(import.meta.url).resolve('esbuild/bin/esbuild')}' "$@"`);
    expect((await ask({ url }, '/')).status).toBe(200);
    expect((await ask({ url }, '/')).status).toBe(200);
    expect(times()).toBe(3);
  });

  test('has its events again after a stop, and after a kill', async () => {
    let program = serve();
    let url = await addressOf(program);
    await ingest({ url }, eventLine({ logId: 'one' }));
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(0);
    program = serve();
    url = await addressOf(program);
    await ingest({ url }, eventLine({ logId: 'two' }));
    program.child.kill('SIGKILL');
    await program.ended;
    program = serve();
    url = await addressOf(program);
    expect((await search({ url }, lastHour())).body.total).toBe(2);
  });

  test('ends with status 1 where it cannot tell whether a commit is on disk, and the next one has every event once', async () => {
    const failing = new URL('./failing-commit.ts', import.meta.url).href;
    const data = join(folder, 'data');
    const program = startCli(['serve', '--port', '0', '--data-dir', data], { NODE_OPTIONS: `--import=${failing}` });
    const url = await addressOf(program);
    const line = eventLine();
    await ingest({ url }, line);
    // A batch without a new event becomes a row of the catalog.
    await ingest({ url }, line).catch(() => {});
    expect(await program.ended).toBe(1);
    expect(program.stderr()).toContain('the program ends, because it cannot tell what is on disk');
    const again = await addressOf(serve());
    expect((await search({ url: again }, lastHour())).body.total).toBe(1);
  });

  test('refuses a folder that another process has in use: one line, status 1', async () => {
    const first = serve();
    const url = await addressOf(first);
    const second = serve();
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toMatch(oneLine);
    expect(second.stderr()).toContain(join(folder, 'data'));
    expect(second.stderr()).toContain('another shieldlog process is using');
    expect((await ask({ url }, '/healthz')).status).toBe(200);
  });

  test('refuses a folder that is a file: one line, status 1', async () => {
    writeFileSync(join(folder, 'data'), '');
    const program = serve();
    expect(await program.ended).toBe(1);
    expect(program.stderr()).toMatch(oneLine);
    expect(program.stderr()).toContain(join(folder, 'data'));
  });

  test.each(['database.sqlite', 'control-plane.sqlite'])('refuses a folder whose %s cannot be opened: one line, status 1', async (file) => {
    mkdirSync(join(folder, 'data', file), { recursive: true });
    const { status, stderr } = await runCli(['serve', '--port=0', '--data-dir', join(folder, 'data'), '--log-level', 'fatal']);
    const files = `the files of the control plane in ${JSON.stringify(join(folder, 'data'))}`;
    expect([status, stderr]).toEqual([1, `shieldlog: DATA_DIR: ${files} cannot be opened: unable to open database file\n`]);
  });

  test('says that a port is in use: one line, status 1', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    const { status, stderr } = await runCli(['serve', `--port=${port}`, '--data-dir', join(folder, 'data'), '--log-level', 'fatal']);
    server.close();
    expect([status, stderr]).toEqual([
      1,
      `shieldlog: 127.0.0.1:${port} is in use by another process; set PORT to a free one, or to 0 for any\n`,
    ]);
  });

  test('refuses a wrong variable and a wrong flag: one line, status 2, nothing touched', async () => {
    const wrongVariable = await runCli(['serve'], { PORT: '80a', DATA_DIR: join(folder, 'data') });
    expect([wrongVariable.status, wrongVariable.stderr]).toEqual([
      2,
      'shieldlog: PORT="80a" is not allowed; allowed: a whole number 0..65535; 0 takes any free port\n',
    ]);
    const wrongFlag = await runCli(['serve', '--host', '0.0.0.0'], { DATA_DIR: join(folder, 'data') });
    expect([wrongFlag.status, wrongFlag.stderr]).toEqual([
      2,
      expect.stringMatching(/^shieldlog: --?HOST|^shieldlog: HOST="0\.0\.0\.0" is not allowed without ACCESS_KEYS/),
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('names every wrong variable and flag at once, and those that are nearly settings: a line each, status 2', async () => {
    const env = { PORT: '80a', RETENTION_HOURS: '0', KAFKA_BROKER: 'a:9092', DATA_DIR: join(folder, 'data') };
    const { status, stderr } = await runHere(['serve', '--log-level', 'loud'], env);
    expect([status, stderr.split('\n')]).toEqual([
      2,
      [
        'shieldlog: PORT="80a" is not allowed; allowed: a whole number 0..65535; 0 takes any free port',
        'shieldlog: RETENTION_HOURS="0" is not allowed; allowed: a whole number 1..8760',
        expect.stringMatching(/^shieldlog: --log-level="loud" is not allowed; allowed: fatal, /),
        'shieldlog: KAFKA_BROKER is not a setting and is not read; did you mean KAFKA_BROKERS?',
        '',
      ],
    ]);
  });

  test('warns of a variable that is nearly a setting, and starts', async () => {
    const program = startCli(['serve', '--port', '0'], { DATA_DIR: join(folder, 'data'), KAFKA_BROKER: 'secret', PORTS: '1' });
    await addressOf(program);
    const warnings = program
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 40);
    expect(warnings.map(({ msg }) => msg)).toEqual(['KAFKA_BROKER is not a setting and is not read; did you mean KAFKA_BROKERS?']);
    expect(program.stderr()).not.toContain('secret');
  });

  test('listens beyond loopback only with access keys', async () => {
    const key = '0123456789abcdef';
    const program = startCli(['serve', '--port', '0', '--host', '0.0.0.0'], { DATA_DIR: join(folder, 'data'), ACCESS_KEYS: `me:${key}:*` });
    const url = (await addressOf(program)).replace('0.0.0.0', '127.0.0.1');
    expect((await search({ url }, lastHour())).status).toBe(401);
    expect((await search({ url }, lastHour(), { accesskey: key })).status).toBe(200);
    expect(program.stderr()).not.toContain(key);
  });

  test('serves while Kafka cannot be reached, is not ready, and stops all the same', async () => {
    const program = serve('--kafka-brokers', '127.0.0.1:1');
    const url = await addressOf(program);
    const { status, body } = await ask({ url }, '/readyz');
    expect([status, body.status]).toEqual([503, 'not ready']);
    expect((await search({ url }, lastHour())).status).toBe(200);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  test('lists in its help every variable with its flag', async () => {
    const { status, stdout, stderr } = await runHere(['serve', '--help']);
    expect([status, stderr]).toEqual([0, '']);
    for (const { name } of CONFIG_VARIABLES) expect(stdout).toContain(`--${flagOf(name)}, ${name}`);
  });
});

describe('shieldlog', () => {
  test.each([
    [['serve', '--prot', '1'], "shieldlog: Unknown option '--prot'; did you mean --port?\n"],
    [['serve', '--colour'], "shieldlog: Unknown option '--colour'\n"],
    [['serve', 'now'], "shieldlog: Unexpected argument 'now'; serve takes only flags\n"],
    [['ingest'], 'shieldlog: ingest needs a FILE, or - for standard input\n'],
    [['ingest', 'a', './a'], "shieldlog: './a' is given twice; allowed: each FILE once\n"],
    [['ingest', 'a', '--url', 'ftp://x'], 'shieldlog: --url "ftp://x" is not allowed; allowed: a URL such as http://127.0.0.1:8080\n'],
  ])('%j is wrong usage: one line, status 2', async (args, line) => {
    expect(await runHere(args)).toEqual({ status: 2, stdout: '', stderr: line });
  });

  test.each([
    [[], 'no command is given'],
    [['sevre'], "'sevre' is not a command"],
  ])('%j names the commands that --help lists, status 2', async (args, wrong) => {
    const { stdout } = await runHere(['--help']);
    const names = [...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(await runHere(args)).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${wrong}; there are: ${names.join(', ')}\n` });
  });

  test.each([['--version'], ['version'], ['-v']])('%s tells its version, which is that of the package', async (arg) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
    expect(await runHere([arg])).toEqual({ status: 0, stdout: `shieldlog ${version}\n`, stderr: '' });
  });

  test.each([['--help'], ['help'], ['-h']])('%s lists the commands', async (arg) => {
    const { status, stdout } = await runHere([arg]);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/serve .*\n.*ingest /s)]);
  });
});

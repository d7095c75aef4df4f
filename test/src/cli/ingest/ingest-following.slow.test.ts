import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_STREAMED_LINE_BYTES } from '../../../../src/cli/ingest/followed-stream.ts';
import { freePorts } from '../../../broker/free-port.ts';
import { recordingUpstream } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli, startPipeline } from '../cli-process.ts';

let app: RunningApp;
let folder: string;
/** Each test has a zone of its own. */
let zone = 0;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

beforeEach(() => {
  folder = temporaryFolder();
  zone += 1;
});

afterEach(() => killAll());

const path = (name: string): string => join(folder, name);
const event = (logId: string): string => eventLine({ logId, shieldZoneId: zone });
const args = (...names: readonly string[]): string[] => ['ingest', '--follow', '--url', app.url, '--state', path('state'), ...names];
const follow = (...names: readonly string[]): CliProcess => startCli(args(...names));

const idsAt = async ({ url }: Pick<RunningApp, 'url'>): Promise<readonly string[]> => {
  const { body } = await search({ url }, lastHour({ pageSize: 500 }), {}, zone);
  expect(body.total).toBe(body.rows.length);
  return body.rows.map(({ logId }: { readonly logId: string }) => logId).sort();
};

/** Resolves when these events are searchable, and no others. */
const stored = (ids: readonly string[], at: Pick<RunningApp, 'url'> = app) =>
  eventually(`${ids.length} events are stored`, async () => JSON.stringify(await idsAt(at)) === JSON.stringify([...ids].sort()));

async function stop(cli: CliProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  cli.child.kill(signal);
  expect(await cli.ended).toBe(0);
}

describe('shieldlog ingest --follow', () => {
  test('sends several files and what is appended to them, and on a signal says where it stopped', async () => {
    writeFileSync(path('a.log'), event('a1') + event('a2').trimEnd());
    const cli = follow(path('a.log'), path('b.log'));
    await stored(['a1']);
    writeFileSync(path('b.log'), event('b1'));
    appendFileSync(path('a.log'), `\n${event('a3')}`);
    await stored(['a1', 'a2', 'a3', 'b1']);
    appendFileSync(path('b.log'), `${event('b2')}{"un`);
    await stop(cli, 'SIGINT');
    expect(await idsAt(app)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
    expect(cli.stdout()).toBe(
      `${path('a.log')}: accepted 3 (0 stored already), expired 0, rejected 0\n` +
        `${path('b.log')}: accepted 2 (0 stored already), expired 0, rejected 0\n` +
        '2 files: accepted 5 (0 stored already), expired 0, rejected 0\n',
    );
    expect(cli.stderr().split('\n')).toEqual([
      expect.stringMatching(/^shieldlog ingest: \S+b\.log cannot be read, and is waited for: ENOENT/),
      expect.stringMatching(/^shieldlog ingest: \S+a\.log was sent up to byte \d+ \(line 3\)$/),
      expect.stringMatching(
        /^shieldlog ingest: \S+b\.log was sent up to byte \d+ \(line 2\); the 4 bytes behind it are no whole line yet$/,
      ),
      '',
    ]);
  });

  test('names what is rejected by its line in the file, and lets no line swallow the next ones', async () => {
    writeFileSync(path('a.log'), event('a1'));
    const cli = follow(path('a.log'));
    await stored(['a1']);
    appendFileSync(path('a.log'), `[INFO] a line of another program\n${event('a2')}[\n${event('a3')}`);
    await stored(['a1', 'a2', 'a3']);
    await stop(cli);
    const told = cli
      .stderr()
      .split('\n')
      .filter((line) => line.includes('rejected: '));
    expect(told.map((line) => line.split(': rejected')[0])).toEqual([`${path('a.log')}, line 2`, `${path('a.log')}, line 4`]);
    const { body } = await ask(app, '/ingest/dead-letters');
    expect(body.deadLetters.map(({ text }: { readonly text: string }) => text)).toEqual(
      expect.arrayContaining(['[INFO] a line of another program', '[']),
    );
  });

  test('sends what is written to a file after it was renamed, also where the clock steps on by hours meanwhile', async () => {
    // With every look at the clock it has gone on by an hour.
    const clock = 'let steps = 0; const { now } = Date; Date.now = () => now() + (steps += 3_600_000)';
    writeFileSync(path('a.log'), event('a1'));
    const cli = startCli(args(path('a.log')), { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}` });
    await stored(['a1']);
    renameSync(path('a.log'), path('a.log.1'));
    writeFileSync(path('a.log'), event('b1'));
    await stored(['a1', 'b1']);
    appendFileSync(path('a.log.1'), event('a2'));
    await stored(['a1', 'a2', 'b1']);
    await stop(cli);
  });

  test('that is killed again and again sends every line, stores it once, and rejects nothing twice', async () => {
    const expected: string[] = [];
    const append = (count: number): void => {
      const ids = Array.from({ length: count }, (_, index) => `k${expected.length + index}`);
      expected.push(...ids);
      appendFileSync(path('a.log'), ids.map(event).join(''));
    };
    append(20);
    // A file is known to the next start from when it was first opened.
    const first = follow(path('a.log'));
    await eventually(
      'it has a state',
      () => existsSync(path('state')) && readdirSync(path('state')).some((name) => name.endsWith('.json')),
    );
    first.child.kill('SIGKILL');
    await first.ended;
    for (const killedAfterMs of [400, 700, 1_000, 1_300]) {
      const cli = follow(path('a.log'));
      // At some moment of its start, of an upload or of the writing of its state.
      setTimeout(() => cli.child.kill('SIGKILL'), killedAfterMs);
      append(20);
      await cli.ended;
      append(20);
      renameSync(path('a.log'), path(`a.log.${killedAfterMs}`));
      append(5);
      // The file that was renamed is found by the next start, as long as it is not renamed again.
      const next = follow(path('a.log'));
      await stored(expected);
      await stop(next);
    }
    expect(expected.length).toBe(200);
    const again = follow(path('a.log'));
    append(1);
    await stored(expected);
    await stop(again);
    expect(again.stdout()).toBe('accepted 1 (0 stored already), expired 0, rejected 0\n');
  });

  test('waits for a program that is away, through rotations, and ends on a signal also while it waits', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const away = (): CliProcess => startCli(['ingest', '--follow', '--url', url, '--state', path('state'), path('a.log')]);
    writeFileSync(path('a.log'), event('a0'));
    const stopped = away();
    await eventually('it waits', () => stopped.stderr().includes('trying again'));
    await stop(stopped);
    expect(stopped.stderr()).toContain('a.log was sent up to byte 0 (line 0); the ');

    const cli = away();
    await eventually('it waits', () => cli.stderr().includes('trying again'));
    const [state, ...others] = readdirSync(path('state')).filter((name) => name.endsWith('.json'));
    expect([state, others]).toEqual([expect.stringMatching(/^ingest-[0-9a-f]{16}\.json$/), []]);
    const filesSeen = (): number => JSON.parse(readFileSync(join(path('state'), state as string), 'utf8')).files.length;
    for (const round of [1, 2]) {
      renameSync(path('a.log'), path(`a.log.${round}`));
      writeFileSync(path('a.log'), event(`a${round}`));
      // Of two that have the name between two of its looks it sees the second alone.
      await eventually('it has seen the other file', () => filesSeen() === round + 1);
    }
    const program = startCli(['serve', '--port', String(port), '--data-dir', path('data')]);
    await addressOf(program);
    await stored(['a0', 'a1', 'a2'], { url });
    expect(cli.stderr()).toContain('shieldlog ingest: works again\n');
    await stop(cli);
  });

  test.each([
    ['a key that is refused', ['--access-key', 'x'.repeat(20)], 401],
    ['what is no shieldlog', [], 404],
  ])('ends with status 1 at %s', async (_what, rest, status) => {
    await using server = await recordingUpstream((_request, response) => response.writeHead(status).end('{"detail":"no"}'));
    writeFileSync(path('a.log'), event('a1'));
    const told = await runCli(['ingest', '--follow', '--state', path('state'), '--url', server.url, ...rest, path('a.log')]);
    expect(told).toEqual({ status: 1, stdout: '', stderr: `shieldlog: the program answered ${status}: no\n` });
  });

  test.each([
    ['a folder', '.', 'is no file; allowed with --follow: a file, or - for standard input'],
    ['a JSON array', 'array.json', 'is a JSON array; allowed with --follow: a file of lines'],
  ])('refuses %s: status 1', async (_what, name, why) => {
    writeFileSync(path('array.json'), '[{}]');
    expect(await runCli(args(path(name)))).toEqual({ status: 1, stdout: '', stderr: `shieldlog: ${path(name)} ${why}\n` });
  });

  test('with a mapping sends the records that are appended', async () => {
    const record = (requestId: string): string => `${JSON.stringify({ timestamp: Date.now(), httpRequest: { requestId } })}\n`;
    writeFileSync(path('waf.log'), record('r-1'));
    const cli = follow('--mapping', 'aws-waf', '--zone', String(zone), path('waf.log'));
    await stored(['r-1']);
    appendFileSync(path('waf.log'), `{"messageType":"CONTROL_MESSAGE"}\n${record('r-2')}no record\n`);
    await stored(['r-1', 'r-2']);
    await stop(cli);
    expect(cli.stdout()).toBe('accepted 2 (0 stored already), expired 0, rejected 1, left out 1\n');
    expect(cli.stderr()).toContain(`${path('waf.log')}, line 4: rejected: the record is not JSON`);
  });

  test('--state without --follow is wrong usage', async () => {
    expect(await runCli(['ingest', '--state', folder, 'a'])).toMatchObject({
      status: 2,
      stderr: 'shieldlog: --state goes only with --follow\n',
    });
  });
});

describe('standard input that is followed', () => {
  test('is sent while it goes on, and to its end', async () => {
    const [one, two, go] = [event('s1'), event('s2').trimEnd(), path('go')];
    const command = `{ printf '%s' '${one}'; until [ -e '${go}' ]; do sleep 0.1; done; printf '%s' '${two}'; } | "$0" "$@"`;
    const pipeline = startPipeline(command, args('-'));
    await stored(['s1']);
    writeFileSync(path('go'), '');
    expect(await pipeline.ended).toBe(0);
    expect([pipeline.stdout(), await idsAt(app)]).toEqual(['accepted 2 (0 stored already), expired 0, rejected 0\n', ['s1', 's2']]);
    expect(pipeline.stderr()).toMatch(/^shieldlog ingest: standard input was sent up to byte \d+ \(line 2\)\n$/);
  });

  test('with rejected lines ends with status 1', async () => {
    const { status, stdout, stderr } = await runCli(args('-'), {}, `${event('s1')}x\n`);
    expect([status, stdout]).toEqual([1, 'accepted 1 (0 stored already), expired 0, rejected 1\n']);
    expect(stderr).toContain('standard input, line 2: rejected: ');
  });

  test('with a line that never ends is refused', async () => {
    const long = Buffer.alloc(MAX_STREAMED_LINE_BYTES + 1, 'x');
    const { status, stderr } = await runCli(args('-'), {}, Buffer.concat([Buffer.from(event('s1')), long]));
    expect([status, stderr]).toEqual([1, `shieldlog: standard input, line 2: it is longer than ${MAX_STREAMED_LINE_BYTES} bytes\n`]);
  });
});

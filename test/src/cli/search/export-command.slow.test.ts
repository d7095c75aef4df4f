import { readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordingUpstream } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { type CliProcess, killAll, startCli, startPipeline } from '../cli-process.ts';
import { runHere } from '../command-run.ts';
import { startOnTerminal } from '../terminal-process.ts';

const KEY = 'key-of-two-zones-1';
/** Digits that no JavaScript number holds, and a text that ends lines. */
const LOG = '{"big":123456789012345678901234567890,"tiny":1.10}';

let app: RunningApp;
let folder: string;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}-all:*,two:${KEY}:1+7` } });
  const now = Date.now();
  const lines = Array.from({ length: 100 }, (_, index) => {
    const action = index % 2 === 0 ? 'blocked' : 'logged';
    const event = {
      logId: `e${index}`,
      shieldZoneId: index % 4 === 0 ? 7 : 1,
      timestamp: now - index * 1_000,
      action,
      ua: 'sql\ninjection',
      ip: `10.0.0.${index}`,
    };
    return `${JSON.stringify(event).slice(0, -1)},"log":${LOG}}\n`;
  });
  lines.push(eventLine({ logId: 'foreign', shieldZoneId: 2 }));
  expect((await ingest(app, lines.join(''), { accesskey: `${KEY}-all` })).body.accepted).toBe(101);
});

afterAll(() => app.stop());

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(() => killAll());

const ENV = { SHIELDLOG_ACCESS_KEY: KEY };
const args = (...rest: readonly string[]) => ['export', '--url', app.url, ...rest];
const exportCli = (...rest: readonly string[]) => runHere(args(...rest), ENV);

describe('shieldlog export', () => {
  test('writes what a search line finds in the zones of the key, as CSV that readers read', async () => {
    const { status, stdout, stderr } = await exportCli('--csv', 'action:blocked', '-ip:10.0.0.64/26', 'sql\ninjection', '10.0.0');
    expect([status, stderr]).toEqual([0, '']);
    const rows = parse<Record<string, string>>(stdout, { columns: true });
    expect(rows.map(({ logId }) => logId)).toEqual(Array.from({ length: 32 }, (_, index) => `e${index * 2}`));
    expect(rows[0]).toMatchObject({ shieldZoneId: '7', ua: 'sql\ninjection', log: LOG });
  });

  test('in a pipe writes NDJSON with every digit of the log, of one zone, within a window', async () => {
    const from = Date.now() - 50_000;
    const { status, stdout } = await exportCli('--zone', '7', '--from', String(from), '--to', new Date(Date.now() + 1).toISOString());
    const lines = stdout.trim().split('\n');
    expect([status, lines.length > 5 && lines.length <= 13]).toEqual([0, true]);
    for (const line of lines) expect(line).toContain(`"log":${LOG}`);
    expect((await exportCli('--zone', '7', '--last', '1s', '--to', '2000-01-01')).status).toBe(2);
  });

  test.each([
    ['events.csv', (bytes: Buffer) => bytes, 'time,'],
    ['events.ndjson', (bytes: Buffer) => bytes, '{"logId"'],
    ['events.jsonl.gz', gunzipSync, '{"logId"'],
    ['events.csv.zst', zstdDecompressSync, 'time,'],
    ['events.txt', (bytes: Buffer) => bytes, 'time,'],
  ])('--output %s is the file, and nothing else is left', async (name, unpacked, begin) => {
    const path = join(folder, name);
    writeFileSync(path, 'an earlier one');
    const { status, stdout, stderr } = await exportCli('--output', path);
    expect([status, stdout, stderr]).toEqual([0, '', `shieldlog export: 100 events written to ${path}\n`]);
    expect(unpacked(readFileSync(path)).toString()).toMatch(new RegExp(`^${begin}`));
    expect(readdirSync(folder)).toEqual([name]);
  });

  test.each<[switches: readonly string[], output: string | null, begin: string]>([
    [['--csv'], 'events.ndjson', 'time,'],
    [['--ndjson'], 'events.csv', '{"logId"'],
    [['--csv'], null, 'time,'],
    [['--ndjson'], null, '{"logId"'],
  ])('%j decides the format, also with --output %s', async (switches, output, begin) => {
    const path = output === null ? null : join(folder, output);
    const { status, stdout } = await exportCli(...switches, ...(path === null ? [] : ['--output', path]));
    const written = path === null ? stdout : readFileSync(path, 'utf8');
    expect([status, written.slice(0, begin.length)]).toEqual([0, begin]);
  });

  test('--bom begins CSV with a BOM, in a file and in a pipe, and counts no event more', async () => {
    const path = join(folder, 'events.csv');
    const { status, stderr } = await exportCli('--bom', '--output', path);
    expect([status, stderr]).toEqual([0, `shieldlog export: 100 events written to ${path}\n`]);
    expect(readFileSync(path, 'utf8').slice(0, 5)).toBe('\ufefftime');
    const pipeline = startPipeline('"$0" "$@" | head -c 5 | od -An -tx1', args('--csv', '--bom'), ENV);
    await pipeline.ended;
    expect(pipeline.stdout()).toBe(' ef bb bf 74 69\n');
  });

  test('--output - is standard output, as without the flag, and ./- a file', async () => {
    const { status, stdout, stderr } = await exportCli('--output', '-', '--to', String(Date.now()));
    expect([status, stderr, stdout.split('\n').length, stdout.slice(0, 8)]).toEqual([0, '', 101, '{"logId"']);
    expect((await exportCli('--output=-', '--csv')).stdout.slice(0, 5)).toBe('time,');
    expect((await exportCli('--output', join(folder, '-'))).status).toBe(0);
    expect(readdirSync(folder)).toEqual(['-']);
  });

  test.each([
    ['--csv', /^time,.*\r\n0\n$/],
    ['--ndjson', /^\{"logId":"e0".*\}\n0\n$/],
  ])('%s ends quietly when the reader of its pipe has enough', async (format, shown) => {
    const pipeline = startPipeline('"$0" "$@" | head -n 1; echo $PIPESTATUS', args(format), ENV);
    await pipeline.ended;
    expect([pipeline.stdout(), pipeline.stderr()]).toEqual([expect.stringMatching(shown), '']);
  });

  test('gives jq what it reads', async () => {
    const pipeline = startPipeline('"$0" "$@" | jq -r .fields.action | sort | uniq -c', args(), ENV);
    await pipeline.ended;
    expect(pipeline.stdout().replaceAll(/ +/g, ' ')).toBe(' 50 blocked\n 50 logged\n');
  });

  test.each<[what: string, args: readonly string[], status: number, stderr: string]>([
    ['a faulty line', ['a', 'ip:'], 2, 'shieldlog: character 6: a value is missing here; ip:"" is the empty one\n  a ip:\n       ^\n'],
    [
      'a line that the program refuses',
      ['ip:10.0.0.0/99'],
      2,
      'shieldlog: character 4: needs a prefix length of 0 to 32 in decimal digits, not "10.0.0.0/99"\n  ip:10.0.0.0/99\n     ^\n',
    ],
    ['two formats', ['--csv', '--ndjson'], 2, 'shieldlog: --csv and --ndjson are both given; allowed: one of them\n'],
    [
      'a BOM in a pipe',
      ['--bom'],
      2,
      'shieldlog: --bom is given and the format is ndjson; allowed: --bom with CSV, which --csv asks for\n',
    ],
    ['a BOM in NDJSON', ['--bom', '--output', '/nowhere/a.jsonl.gz'], 2, 'shieldlog: --bom is given and the format is ndjson; allowed: '],
    ['two beginnings', ['--from', '0', '--last', '1h'], 2, 'shieldlog: --from and --last are both given; allowed: one of them\n'],
    [
      'a time without its zone',
      ['--from', '2026-01-01T00:00'],
      2,
      '--from "2026-01-01T00:00" is not allowed; allowed: Unix milliseconds, a date (of UTC), or a time with its zone, such as ',
    ],
    ['a day that no month has', ['--to', '2026-02-30'], 2, 'shieldlog: --to "2026-02-30" is not allowed; allowed: Unix'],
    ['a zone that the key does not open', ['--zone', '1,2'], 1, 'answered 403: The access key does not open shield zone 2'],
    ['a file without a name', ['--output', ''], 2, 'shieldlog: --output "" is not allowed; allowed: the name of a file\n'],
    ['a folder as the file', ['--output', '/'], 1, 'shieldlog: / is a folder; allowed: the name of a file\n'],
    ['a folder that is not there', ['--output', '/nowhere/a.csv'], 1, 'shieldlog: /nowhere/a.csv cannot be written: ENOENT'],
  ])('names what is wrong with %s', async (_what, given, status, message) => {
    const told = await exportCli(...given);
    expect(told).toEqual({ status, stdout: '', stderr: expect.stringContaining(message) });
  });
});

const BEGINNING = 'time,log\r\n1,2\r\n';

/** A program that sends the beginning of an export, and then nothing. */
async function hangingExport() {
  let answered: ServerResponse | null = null;
  const server = await recordingUpstream((_request, response) => {
    answered = response;
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write(BEGINNING);
  });
  return { ...server, breakOff: () => answered?.socket?.resetAndDestroy() };
}

describe('an export that does not come to its end', () => {
  const partFile = (): string | undefined => readdirSync(folder).find((name) => name.endsWith('.part'));
  const path = (): string => join(folder, 'events.csv');

  test('because the connection breaks off, leaves a file as it was, and status 1', async () => {
    await using server = await hangingExport();
    writeFileSync(path(), 'an earlier one');
    const cli = startCli(['export', '--url', server.url, '--output', path()]);
    await eventually('the beginning has come', () => readFileSync(join(folder, partFile() ?? 'events.csv'), 'utf8') === BEGINNING);
    server.breakOff();
    expect([await cli.ended, cli.stderr()]).toEqual([
      1,
      expect.stringMatching(/^shieldlog: the export broke off after 15 bytes, \S+ is not written: [^\n]*\n$/),
    ]);
    expect([readdirSync(folder), readFileSync(path(), 'utf8')]).toEqual([['events.csv'], 'an earlier one']);
  });

  test('because the connection breaks off, says that standard output has not all, and status 1', async () => {
    await using server = await hangingExport();
    const cli = startCli(['export', '--url', server.url, '--csv']);
    await eventually('the beginning has come', () => cli.stdout() === BEGINNING);
    server.breakOff();
    expect([await cli.ended, cli.stderr()]).toEqual([
      1,
      expect.stringMatching(/broke off after 15 bytes, what was written is not whole: [^\n]*\n$/),
    ]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('because of %s leaves no file, and status %i', async (signal, status) => {
    await using server = await hangingExport();
    const cli = startCli(['export', '--url', server.url, '--output', path()]);
    await eventually('the export has begun', () => partFile() !== undefined);
    cli.child.kill(signal);
    expect([await cli.ended, cli.stderr(), readdirSync(folder)]).toEqual([status, '', []]);
  });

  test('because it is killed leaves a file only under another name', async () => {
    await using server = await hangingExport();
    const cli = startCli(['export', '--url', server.url, '--output', path()]);
    await eventually('the export has begun', () => partFile() !== undefined);
    cli.child.kill('SIGKILL');
    await cli.ended;
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^events\.csv\.[0-9a-f]{8}\.part$/)]);
  });

  test('because of SIGINT in a pipe ends as a shell expects it, even where nobody reads', async () => {
    await using server = await recordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' });
      const send = (): void => void response.write('x'.repeat(1_000_000), send);
      send();
    });
    const cli: CliProcess = startCli(['export', '--url', server.url, '--csv']);
    cli.child.stdout?.pause();
    await eventually('it is asked', () => server.seen.length === 1);
    cli.child.kill('SIGINT');
    await new Promise((resolve) => cli.child.once('exit', resolve));
    expect(cli.child.signalCode).toBe('SIGINT');
  });
});

test('an export that is written to a terminal is CSV, and does nothing there', async () => {
  await using server = await recordingUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/csv' }).end('time,ua\r\n1,"\u001b[2J\u009b1m\rx"\r\n'),
  );
  const terminal = startOnTerminal(['export', '--url', server.url], { columns: 80 });
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown().replaceAll('\r', '').split('\n')).toEqual(['time,ua', String.raw`1,"\u001b[2J\u009b1m\u000dx"`, '']);
});

test('on a terminal, an export to a file shows what has come', async () => {
  const path = join(folder, 'events.csv');
  const terminal = startOnTerminal(args('--output', path), { columns: 80, env: ENV });
  expect(await terminal.ended).toBe(0);
  expect(stripVTControlCharacters(terminal.shown())).toMatch(/received \S+ KiB in \S+\s+shieldlog export: 100 events written to /);
  expect(readdirSync(folder)).toEqual(['events.csv']);
});

test('a link stays a link to the file, and one to nothing is refused', async () => {
  const [link, path] = [join(folder, 'link'), join(folder, 'events.csv')];
  symlinkSync(path, link);
  expect(await exportCli('--output', link)).toMatchObject({
    status: 1,
    stderr: `shieldlog: ${link} is a link to nothing; allowed: the name of a file\n`,
  });
  writeFileSync(path, 'an earlier one');
  expect((await exportCli('--output', link)).status).toBe(0);
  expect([readlinkSync(link), readFileSync(path, 'utf8')]).toEqual([path, expect.stringMatching(/^time,/)]);
});

test('a device is written to, and not replaced', async () => {
  const pipeline = startPipeline('"$0" "$@" --output /dev/stdout | head -n 1; "$0" "$@" --output /dev/null', args('ip:10.0.0.1'), ENV);
  expect([await pipeline.ended, pipeline.stdout()]).toEqual([0, expect.stringMatching(/^time,/)]);
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

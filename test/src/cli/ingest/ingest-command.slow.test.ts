import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { recordingUpstream } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { zstdFrame } from '../../../fixtures/zstd-frame.ts';
import { ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';
import { httpListener } from '../../sinks/http-listener.ts';
import { testCertificate } from '../../sinks/test-certificate.ts';
import { killAll, startPipeline } from '../cli-process.ts';
import { runHere } from '../command-run.ts';
import { startOnTerminal } from '../terminal-process.ts';

const KEY = 'key-of-every-zone-1';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*,zone:${KEY}7:7` } });
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const LINES = Array.from({ length: 500 }, (_, index) => eventLine({ logId: `e${index}` })).join('');

/** As pzstd writes it: the size of the next frame. */
const SKIPPABLE_FRAME = Buffer.from('502a4d180400000001000000', 'hex');

const LARGE_WINDOW = await zstdFrame(LINES, 27);

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Where a terminal hid the cursor (`l`) and showed it again (`h`). */
const cursorIn = (shown: string): readonly string[] =>
  shown.split('\u001b').flatMap((sequence) => (sequence.startsWith('[?25') ? sequence.charAt(4) : []));

const ingestCli = (args: readonly string[], input?: Uint8Array | string) =>
  runHere(['ingest', '--url', app.url, ...args], { SHIELDLOG_ACCESS_KEY: KEY }, input);

const total = async (): Promise<number> => (await search(app, lastHour(), { accesskey: KEY })).body.total;

describe('shieldlog ingest', () => {
  test('sends to a program behind TLS, which the authorities of --ca vouch for', async () => {
    const certificate = await testCertificate();
    const report = { accepted: 500, duplicates: 0, expired: 0, repaired: 0, rejected: [], rejectedCount: 0 };
    const listener = await httpListener(() => ({ status: 202, body: JSON.stringify(report) }), { certificate });
    onTestFinished(() => listener.stop());
    const args = [file('lines.ndjson', LINES), '--url', listener.url.href];
    const trusting = await ingestCli([...args, '--ca', file('ca.pem', certificate.cert)]);
    expect(trusting).toMatchObject({ status: 0, stdout: expect.stringMatching(/^accepted 500 /) });
    expect(listener.received.map(({ body }) => body)).toEqual([LINES]);
    const { status, stderr } = await ingestCli(args);
    expect([status, stderr]).toEqual([1, expect.stringContaining('is not trusted')]);
    expect(stderr).toContain('name its authority with --ca');
  });

  test('sends objects over several lines and arrays behind one another, from a file and from standard input', async () => {
    const pretty = LINES.trim()
      .split('\n')
      .map((line) => JSON.stringify(JSON.parse(line), null, 2))
      .join('\n');
    const arrays = `[${LINES.trim().replaceAll('\n', ',\n')}]`.repeat(2);
    expect(await ingestCli([file('pretty.json', pretty)])).toMatchObject({
      stdout: expect.stringMatching(/^accepted 500 .*rejected 0\n$/),
    });
    expect(await ingestCli([file('arrays.json', arrays)])).toMatchObject({
      stdout: expect.stringMatching(/^accepted 1000 .*rejected 0\n$/),
    });
    expect(await ingestCli(['-'], pretty)).toMatchObject({ stdout: expect.stringMatching(/^accepted 500 .*rejected 0\n$/) });
    expect(await total()).toBe(500);
  });

  test('says how many events had bytes that are no UTF-8', async () => {
    const path = file('raw.ndjson', Buffer.from(eventLine({ logId: 'raw', url: '/caf\xe9' }), 'latin1'));
    expect(await ingestCli([path])).toMatchObject({
      status: 0,
      stdout: 'accepted 1 (0 stored already), repaired 1, expired 0, rejected 0\n',
    });
    expect(await ingestCli([path, file('none.ndjson', LINES)])).toMatchObject({
      stdout: expect.stringContaining('2 files: accepted 501 (1 stored already), repaired 1, expired 0, rejected 0\n'),
    });
  });

  test.each([
    ['a file of lines', 'events.ndjson', LINES],
    ['a gzip file', 'events.ndjson.gz', gzipSync(LINES)],
    ['a zstd file', 'events.ndjson.zst', zstdCompressSync(LINES)],
    ['a zstd file that begins with a frame to skip', 'events.zst', Buffer.concat([SKIPPABLE_FRAME, zstdCompressSync(LINES)])],
    ['a zstd file with a window that the program refuses', 'events.zst', LARGE_WINDOW],
    ['such a file that begins with a frame to skip', 'events.zst', Buffer.concat([SKIPPABLE_FRAME, LARGE_WINDOW])],
    [
      'a gzip file that is padded',
      'events.gz',
      Buffer.concat([gzipSync(LINES.slice(0, 1000)), Buffer.alloc(700), gzipSync(LINES.slice(1000))]),
    ],
    ['a gzip file that does not say so', 'events', gzipSync(LINES)],
    ['a gzip file that says it is something else', 'events.ndjson', gzipSync(LINES)],
    ['lines in a file that says it is gzip', 'events.ndjson.gz', LINES],
    ['lines in a file that says it is zstd', 'events.ndjson.zst', LINES],
  ])('sends %s and says what became of it, on standard output', async (_what, name, content) => {
    const path = file(name, content);
    expect(await ingestCli([path])).toEqual({ status: 0, stdout: 'accepted 500 (0 stored already), expired 0, rejected 0\n', stderr: '' });
    expect(await ingestCli([path])).toMatchObject({ status: 0, stdout: 'accepted 500 (500 stored already), expired 0, rejected 0\n' });
    expect(await total()).toBe(500);
  });

  test.each([
    ['plain', LINES],
    ['compressed', gzipSync(LINES)],
  ])('sends standard input, %s', async (_what, input) => {
    expect(await ingestCli(['-'], input)).toMatchObject({ status: 0, stdout: 'accepted 500 (0 stored already), expired 0, rejected 0\n' });
    expect(await total()).toBe(500);
  });

  test('of nothing sends nothing', async () => {
    expect(await ingestCli([file('empty', '')])).toEqual({
      status: 0,
      stdout: 'accepted 0 (0 stored already), expired 0, rejected 0\n',
      stderr: '',
    });
  });

  test('lists what was rejected and ends with status 1', async () => {
    const path = file(
      'events.ndjson',
      `${eventLine()}nonsense\n${eventLine({ timestamp: 1 })}${Array.from({ length: 30 }, (_, index) => `x${index}\n`).join('')}`,
    );
    const { status, stdout, stderr } = await ingestCli([path]);
    expect([status, stdout]).toEqual([1, 'accepted 1 (0 stored already), expired 1, rejected 31\n']);
    expect(stderr).toContain(`${path}, line 2: rejected: `);
    expect(stderr).toContain(`${path}, line 4: rejected: `);
    expect(stderr).toContain('\nand 11 more\n');
    const { body } = await ask(app, '/ingest/dead-letters', { headers: { accesskey: KEY } });
    expect(body.deadLetters).toHaveLength(31);
    expect(body.deadLetters[0].source).toBe('file');
  });

  /** Lines 3, 6 and 7 are rejected; line 2 is blank, line 5 too long a text to be in one chunk. */
  const FAULTY =
    `${eventLine()}\n{"nonsense":1}\n${eventLine({ timestamp: 1 })}` +
    `${eventLine({ log: { text: 'x'.repeat(200_000) } })}x\r\n{"shieldZoneId":"a"}`;
  /** Where an array has them depends on where its elements begin. */
  const FAULTY_ARRAY = `\n[${eventLine()},\n\n {"nonsense":1}, ${eventLine()},{"a":\n\n1},1\n,]`;

  test.each([
    ['lines', FAULTY, [3, 6, 7]],
    ['an array', FAULTY_ARRAY, [5, 6, 8, 9]],
  ])('names the line of what is rejected, in %s, plain, compressed and from standard input', async (_what, text, lines) => {
    const plain = file('faulty.ndjson', text);
    for (const [name, args, input] of [
      [plain, [plain], undefined],
      [file('faulty.gz', gzipSync(text)), [file('faulty.gz', gzipSync(text))], undefined],
      [file('faulty.zst', zstdCompressSync(text)), [file('faulty.zst', zstdCompressSync(text))], undefined],
      ['standard input', ['-'], text],
    ] as const) {
      const { status, stderr } = await ingestCli(args, input);
      const told = stderr.split('\n').filter((line) => line.includes(': rejected: '));
      expect([status, told.map((line) => line.split(': rejected: ')[0])]).toEqual([1, lines.map((line) => `${name}, line ${line}`)]);
    }
  });

  test('prefers --access-key to its variable', async () => {
    const path = file('events.ndjson', eventLine({ shieldZoneId: 8 }));
    const { status, stdout, stderr } = await ingestCli(['--access-key', `${KEY}7`, path]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^shieldlog: the program answered 403: The event 0 \(counted from 0\) is of shield zone 8, [^\n]+\n$/);
  });

  test.each([
    ['a wrong key', ['--access-key', 'wrong'], 'the program answered 401: The AccessKey header holds no key of this program'],
    ['https where the program speaks http', ['--url', 'TLS'], 'does not speak TLS; for a program without it: --url http://127.0.0.1:'],
    [
      'a path beneath which there is no such program',
      ['--url', 'URL/elsewhere/'],
      'the program answered 404: There is nothing at /elsewhere/ingest/events',
    ],
    ['a port where nothing listens', ['--url', 'http://127.0.0.1:1'], 'nothing is listening at http://127.0.0.1:1'],
  ])('with %s: one line, status 1', async (_what, flags, message) => {
    const big = file('events.ndjson', LINES.repeat(100));
    const { status, stdout, stderr } = await ingestCli([
      ...flags.map((flag) => flag.replace('URL', app.url).replace('TLS', app.url.replace('http:', 'https:'))),
      big,
    ]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^shieldlog: [^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(await total()).toBe(0);
  });

  test('to a server that does not speak HTTP: one line, status 1', async () => {
    const greeter = createServer((socket) => socket.on('error', () => {}).end('220 mail\r\n')).listen(0, '127.0.0.1');
    await once(greeter, 'listening');
    const { port } = greeter.address() as AddressInfo;
    const { status, stderr } = await ingestCli(['--url', `http://127.0.0.1:${port}`, file('one.ndjson', eventLine())]);
    greeter.close();
    expect(stderr).toMatch(/^shieldlog: what listens at http:\/\/127\.0\.0\.1:\d+ does not speak HTTP \([^\n]+\); [^\n]+\n$/);
    expect(status).toBe(1);
  });

  test.each([
    ['of other letters', 'kéy-of-every-zone'],
    ['with a line break', 'a\nb'],
    ['with a blank', 'a b'],
  ])('with an access key %s: one line that names the flag or the variable but not the key, status 2', async (_what, key) => {
    const path = file('one.ndjson', eventLine());
    const rule = 'is not allowed: it has other characters; allowed: a key of printable ASCII characters without blanks\n';
    expect(await ingestCli(['--access-key', key, path])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: --access-key ${rule}` });
    const byVariable = await runHere(['ingest', '--url', app.url, path], { SHIELDLOG_ACCESS_KEY: key });
    expect(byVariable).toEqual({ status: 2, stdout: '', stderr: `shieldlog: SHIELDLOG_ACCESS_KEY ${rule}` });
  });

  test('with an empty access key: an empty flag is wrong, an empty variable is an unset one', async () => {
    const path = file('one.ndjson', eventLine());
    expect(await ingestCli(['--access-key', '', path])).toMatchObject({ status: 2, stderr: expect.stringContaining('it is empty') });
    const byVariable = await runHere(['ingest', '--url', app.url, path], { SHIELDLOG_ACCESS_KEY: '' });
    expect(byVariable).toMatchObject({ status: 1, stderr: expect.stringContaining('The AccessKey header is missing') });
  });

  test.each([
    ['does not exist', 'nowhere.ndjson', 'cannot be read'],
    ['is a folder', '.', 'is a folder'],
  ])('of a file that %s: one line, status 1', async (_what, name, message) => {
    const { status, stderr } = await ingestCli([join(folder, name)]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^shieldlog: [^\\n]*${message}[^\\n]*\\n$`))]);
  });

  test.each([
    ['a file', [''], `'' is no FILE; allowed: the name of a file, or - for standard input`],
    ['a folder', ['--follow', '--state', '', 'a.log'], '--state "" is not allowed; allowed: the path of a folder'],
  ])('of %s without a name: one line, status 2', async (_what, given, message) => {
    expect(await ingestCli(given)).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
  });

  test.each([['-'], ['--follow', '-']])('of standard input that is a folder (%s) says so, status 1', async (...given) => {
    const args = ['ingest', '--url', app.url, ...given];
    const cli = startPipeline(`"$0" "$@" < '${folder}'`, args, { SHIELDLOG_ACCESS_KEY: KEY });
    const message = 'standard input cannot be read: it is a folder; allowed: a file, a pipe or a terminal';
    expect([await cli.ended, cli.stdout(), cli.stderr()]).toEqual([1, '', `shieldlog: ${message}\n`]);
  });

  test('of a damaged file says so and what was stored', async () => {
    const { status, stderr } = await ingestCli([file('events.gz', gzipSync(LINES).subarray(0, -30))]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^shieldlog: the program answered 400: the gzip data is damaged or cut off.*events were stored/),
    ]);
  });
});

/** A request that AWS WAF blocked, as it logs it. */
const wafRecord = (requestId: string, olderMs = 1_000): string =>
  JSON.stringify({ timestamp: Date.now() - olderMs, action: 'BLOCK', httpRequest: { clientIp: '192.0.2.7', requestId } });
const CONTROL = '{"messageType":"CONTROL_MESSAGE","logEvents":[]}';

describe('shieldlog ingest --mapping', () => {
  const mapped = (...args: string[]) => ingestCli(['--mapping', 'aws-waf', ...args]);

  test.each<[string, (text: string) => string | Uint8Array]>([
    ['lines', (text) => text],
    ['an array, packed by gzip', (text) => gzipSync(`[${text.replaceAll('\n', ',')}]`)],
    ['lines, packed by zstd', (text) => zstdCompressSync(text)],
  ])('sends records of another product (%s), counts what is left out, and stores none twice', async (_, packed) => {
    const path = file('waf.log', packed([wafRecord('r-1'), CONTROL, wafRecord('r-2'), wafRecord('old', 1e10)].join('\n')));
    for (const already of [0, 2]) {
      expect(await mapped('--zone', '7', path)).toEqual({
        ...{ status: 0, stderr: '' },
        stdout: `accepted 2 (${already} stored already), expired 1, rejected 0, left out 1\n`,
      });
    }
    expect(await total()).toBe(2);
  });

  test('names rejected records by their lines, and ends with status 1', async () => {
    const path = file('waf.log', [wafRecord('r-1'), 'no record', `{"logEvents":[],"x":1}`].join('\n'));
    const { status, stdout, stderr } = await mapped(path);
    expect([status, stdout]).toEqual([1, 'accepted 0 (0 stored already), expired 0, rejected 3, left out 0\n']);
    expect(stderr).toContain(`${path}, line 1: rejected: the record has no zone: the mapping names none, and no other is given`);
    expect(stderr).toContain(`${path}, line 2: rejected: the record is not JSON`);
    expect(stderr).toContain('Rejected records are kept as dead letters: GET /ingest/dead-letters');
    const { body } = await ask(app, '/ingest/dead-letters', { headers: { accesskey: KEY } });
    expect(body.deadLetters.map(({ mapping, source }: Readonly<Record<string, unknown>>) => [mapping, source])).toEqual(
      Array(3).fill(['aws-waf', 'file']),
    );
  });

  test('sums up several files, of which one has nothing left out', async () => {
    const [one, other] = [file('a', `${wafRecord('a')}\n${CONTROL}`), file('b', wafRecord('b'))];
    expect((await mapped('--zone', '7', one, other)).stdout).toBe(
      `${one}: accepted 1 (0 stored already), expired 0, rejected 0, left out 1\n` +
        `${other}: accepted 1 (0 stored already), expired 0, rejected 0, left out 0\n` +
        '2 files: accepted 2 (0 stored already), expired 0, rejected 0, left out 1\n',
    );
  });

  test.each<[string, string[], number, string]>([
    ['a mapping that the program does not have', ['--mapping', 'nothing'], 1, 'the program answered 400: mapping: must be one of '],
    ['no name', ['--mapping', ''], 2, '--mapping "" is not allowed; allowed: the name of a mapping that the program has'],
    ['no number of a zone', ['--mapping', 'aws-waf', '--zone', 'all'], 2, '--zone "all" is not allowed; allowed: a whole number'],
    ['a zone without a mapping', ['--zone', '7'], 2, '--zone goes only with --mapping: events have a zone of their own'],
    ['a zone of another key', ['--mapping', 'aws-waf', '--zone', '8', '--access-key', `${KEY}7`], 1, 'the program answered 403'],
  ])('with %s says so', async (_, args, status, message) => {
    const ended = await ingestCli([...args, file('waf.log', wafRecord('a'))]);
    expect([ended.status, ended.stderr]).toEqual([status, expect.stringContaining(`shieldlog: ${message}`)]);
    expect(await total()).toBe(0);
  });
});

describe('shieldlog ingest on a terminal', () => {
  test('shows how much of a short file is sent', async () => {
    const path = file('one.ndjson', eventLine());
    const terminal = startOnTerminal(['ingest', '--url', app.url, path], { columns: 80, env: { SHIELDLOG_ACCESS_KEY: KEY } });
    expect(await terminal.ended).toBe(0);
    const shown = stripVTControlCharacters(terminal.shown());
    expect(shown).toContain('100% of 1 KiB, 0s left\r\naccepted 1 (0 stored already)');
  });

  test('gives the cursor back where Ctrl-C ends it', async () => {
    await using server = await recordingUpstream(() => {});
    const [one, two] = [file('one.ndjson', LINES), file('two.ndjson', LINES)];
    const terminal = startOnTerminal(['ingest', '--url', server.url, one, two], { columns: 80 });
    await eventually('the file is sent', () => server.seen.length === 1);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(cursorIn(terminal.shown())).toEqual(['l', 'h']);
  });
});

describe('shieldlog ingest of several files', () => {
  const timestamp = Date.now() - 60_000;
  const lines = (prefix: string, count: number): string =>
    Array.from({ length: count }, (_, index) => eventLine({ logId: `${prefix}${index}`, timestamp })).join('');

  test('sends them in their order, standard input among them, and sums up', async () => {
    const [one, two] = [file('one.ndjson', lines('a', 3)), file('two.gz', gzipSync(`${lines('b', 2)}nonsense\n`))];
    expect(await ingestCli([one, '-', two], lines('a', 4))).toEqual({
      status: 1,
      stdout: [
        `${one}: accepted 3 (0 stored already), expired 0, rejected 0`,
        'standard input: accepted 4 (3 stored already), expired 0, rejected 0',
        `${two}: accepted 2 (0 stored already), expired 0, rejected 1`,
        '3 files: accepted 9 (3 stored already), expired 0, rejected 1',
        '',
      ].join('\n'),
      stderr: expect.stringMatching(new RegExp(`^${two}, line 3: rejected: [^\\n]*\\nRejected events are kept`)),
    });
    expect(await total()).toBe(6);
  });

  test('passes over those that cannot be read or are damaged, says so, and ends with status 1', async () => {
    const damaged = file('damaged.gz', gzipSync(LINES).subarray(0, -30));
    const good = file('good.ndjson', lines('g', 2));
    // It is there, but nobody can open it.
    const socket = createServer().listen(join(folder, 'socket'));
    await once(socket, 'listening');
    const told = await ingestCli([join(folder, 'socket'), join(folder, 'nowhere'), damaged, folder, good]);
    socket.close();
    expect(told.status).toBe(1);
    expect(told.stdout).toBe(
      `${good}: accepted 2 (0 stored already), expired 0, rejected 0\n` +
        '5 files: accepted 2 (0 stored already), expired 0, rejected 0; 4 not sent whole\n',
    );
    expect(told.stderr.split('\n')).toEqual([
      expect.stringMatching(/^shieldlog ingest: \S+socket cannot be read: ENXIO/),
      expect.stringMatching(/^shieldlog ingest: \S+nowhere cannot be read: ENOENT/),
      expect.stringMatching(/^shieldlog ingest: \S+damaged\.gz: the program answered 400: the gzip data is damaged/),
      expect.stringMatching(/^shieldlog ingest: \S+ is a folder; allowed: a file/),
      '',
    ]);
  });

  test('ends where the program takes nothing, and names what is left', async () => {
    const [one, two] = [file('one.ndjson', lines('a', 1)), file('two.ndjson', lines('b', 1))];
    const { status, stderr } = await runHere(['ingest', '--url', app.url, one, two]);
    const line = `shieldlog: ${one}: the program answered 401: The AccessKey header is missing`;
    expect([status, stderr]).toEqual([1, expect.stringMatching(`^${line}.*; not sent either: ${two}\n$`)]);
  });
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { addressOf, type CliProcess, killAll, startCli } from './cli/cli-process.ts';
import { ask, eventLine, ingest } from './running-app.ts';

let folder: string;
let data: string;
const cleaners: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-stop-'));
  data = join(folder, 'data');
});

afterEach(async () => {
  await killAll();
  for (const clean of cleaners.splice(0)) clean();
  rmSync(folder, { recursive: true, force: true });
});

const serve = (...flags: string[]): CliProcess => startCli(['serve', '--port', '0', '--data-dir', data, ...flags]);

/** Accepts connections and says nothing; resolves with its port and how many have come. */
async function startSilent(): Promise<{ readonly port: number; connections(): number }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleaners.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.length };
}

let manyTimes = 0;

/** New events, enough that the store moves them from the journal to disk. */
function manyEvents(timestamp = Date.now() - 60_000): string {
  manyTimes += 1;
  return Array.from({ length: 20_000 }, (_, index) =>
    eventLine({ timestamp, logId: `many-${manyTimes}-${index}`, log: { text: 'x'.repeat(200) } }),
  ).join('');
}

/** Reading what came first hangs from now on, as on a disk that does not answer: opening a pipe waits until somebody writes into it. */
async function hangTheFlushing(url: string): Promise<void> {
  await ingest({ url }, manyEvents());
  for (const room of ['journal', 'links']) {
    for (const name of readdirSync(join(data, room)).filter((file) => file.endsWith('.parquet'))) {
      rmSync(join(data, room, name));
      execFileSync('mkfifo', [join(data, room, name)]);
    }
  }
  for (let sent = 0; sent < 5; sent += 1) await ingest({ url }, manyEvents());
}

const filesIn = (room: string): string[] => readdirSync(join(data, room)).filter((file) => file.endsWith('.parquet'));

/** The merge of an hour that is over hangs from now on: one of its segments is a pipe. */
async function hangTheMerge(url: string): Promise<void> {
  const old = Date.now() - 5 * 3_600_000;
  const flush = async (): Promise<void> => {
    const before = filesIn('segments').length;
    for (let sent = 0; sent < 6; sent += 1) await ingest({ url }, manyEvents(old));
    await eventually('a segment is written', () => filesIn('segments').length > before);
  };
  await flush();
  for (const name of filesIn('segments')) {
    rmSync(join(data, 'segments', name));
    execFileSync('mkfifo', [join(data, 'segments', name)]);
  }
  await flush();
  // The program removes links meanwhile.
  const isPipe = (name: string): boolean => statSync(join(data, 'links', name), { throwIfNoEntry: false })?.isFIFO() === true;
  await eventually('the merge reads them', () => filesIn('links').some(isPipe));
}

const lastLine = (program: CliProcess): string => program.stderr().trim().split('\n').at(-1) ?? '';

async function stopped(program: CliProcess): Promise<number | null> {
  program.child.kill('SIGTERM');
  return await program.ended;
}

/** Whether somebody has opened a pipe to read from it; who does gets nothing until the test is over. */
function hasReader(pipe: string): boolean {
  try {
    const writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    cleaners.push(() => closeSync(writer));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return false;
    throw error;
  }
}

test('a stop during a start that hangs gives the start up after 15 s, with one line and status 1', async () => {
  const first = serve();
  const url = await addressOf(first);
  await ingest({ url }, eventLine());
  first.child.kill('SIGKILL');
  await first.ended;
  const [journal] = filesIn('journal');
  const path = join(data, 'journal', journal ?? '');
  rmSync(path);
  execFileSync('mkfifo', [path]);
  const second = serve();
  await eventually('the start reads the journal', () => hasReader(path));
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(1);
  expect(second.stderr().trim().split('\n').at(-1)).toBe('shieldlog: the stop was not finished within 15 s; it still waited for the start');
});

describe('a data folder that is gone while the program runs', () => {
  test.each<[string, () => void, RegExp]>([
    ['removed', () => rmSync(data, { recursive: true }), /^store: the data folder ".*\/data" is gone: ENOENT/],
    ['renamed', () => renameSync(data, join(folder, 'elsewhere')), /^store: the data folder ".*\/data" is gone: ENOENT/],
    [
      'replaced by an empty one, as a volume that is unmounted',
      () => {
        renameSync(data, join(folder, 'elsewhere'));
        mkdirSync(data);
      },
      /^store: the data folder ".*\/data" is not the one that was opened: ENOENT.*catalog\.sqlite/,
    ],
  ])('%s: /readyz names it before anything is sent, intake is 503, and a stop ends', async (_how, lose, reason) => {
    const program = serve();
    const url = await addressOf(program);
    await ingest({ url }, eventLine());
    lose();
    const { status, body } = await ask({ url }, '/readyz');
    expect([status, body]).toEqual([503, { status: 'not ready', reasons: [expect.stringMatching(reason)] }]);
    expect((await ingest({ url }, eventLine())).status).toBe(503);
    expect((await ask({ url }, '/readyz')).body.reasons[0]).toMatch(reason);
    expect(await stopped(program)).toBe(0);
  });

  test('and back again: the program is ready again', async () => {
    const program = serve();
    const url = await addressOf(program);
    renameSync(data, join(folder, 'elsewhere'));
    expect((await ask({ url }, '/readyz')).status).toBe(503);
    renameSync(join(folder, 'elsewhere'), data);
    expect((await ask({ url }, '/readyz')).body).toEqual({ status: 'ready', reasons: [] });
    expect(await stopped(program)).toBe(0);
  });
});

describe('a stop that hangs', () => {
  test('ends with status 1 and one line that says what it waited for', async () => {
    const program = serve();
    await hangTheFlushing(await addressOf(program));
    expect(await stopped(program)).toBe(1);
    expect(lastLine(program)).toBe(
      'shieldlog: the stop was not finished within 15 s; it still waited for the store: the events that are being moved to disk',
    );
  });

  test('names the merge that it waited for', async () => {
    const program = serve();
    await hangTheMerge(await addressOf(program));
    expect(await stopped(program)).toBe(1);
    expect(lastLine(program)).toMatch(/ within 15 s; it still waited for the store: the merge that is being given up$/);
  });

  test('ends at once with a second signal, with its number', async () => {
    const program = serve();
    await hangTheFlushing(await addressOf(program));
    program.child.kill('SIGTERM');
    await eventually('it stops', () => program.stderr().includes('"stopping'));
    // A second signal right after the first one is an echo of it.
    const again = setInterval(() => program.child.kill('SIGINT'), 100);
    const [status, signal]: (number | NodeJS.Signals | null)[] = await once(program.child, 'exit');
    clearInterval(again);
    // A third one may come on the way out, and is its end then: to a shell that is the same.
    expect(status ?? signal).toBeOneOf([130, 'SIGINT']);
    expect(program.stderr()).not.toContain('still waited');
  });
});

describe('a stop ends by itself', () => {
  test('beside an upstream that does not answer', async () => {
    const upstream = await startSilent();
    const program = serve('--upstream-url', `http://127.0.0.1:${upstream.port}`);
    const url = await addressOf(program);
    const answer = ask({ url }, '/mc/nodes').catch((error: unknown) => error);
    await eventually('the upstream is asked', () => upstream.connections() > 0);
    expect(await stopped(program)).toBe(0);
    await answer;
  });

  test('beside a broker that does not answer', async () => {
    const broker = await startSilent();
    const program = serve('--kafka-brokers', `127.0.0.1:${broker.port}`);
    await addressOf(program);
    await eventually('the broker is asked', () => broker.connections() > 0);
    expect(await stopped(program)).toBe(0);
  });

  test('beside an export that nobody reads', async () => {
    const program = serve();
    const url = await addressOf(program);
    for (let sent = 0; sent < 3; sent += 1) await ingest({ url }, manyEvents());
    const now = Date.now();
    const body = JSON.stringify({ from: now - 3_600_000, to: now + 1000 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    cleaners.push(() => socket.destroy());
    const head =
      'POST /shield/event-logs/7/export HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `Accept: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    await once(socket, 'readable');
    expect(await stopped(program)).toBe(0);
  });
});

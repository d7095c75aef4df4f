import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../broker/free-port.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { killAll, runCli, startCli } from '../cli-process.ts';
import { faultyFeed } from './feed-faults.ts';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
  await ingest(app, eventLine({ logId: 'one' }));
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

async function listenOn(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function answering(listener: RequestListener): Promise<number> {
  const server = createHttpServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return await listenOn(server);
}

/** Accepts connections and says nothing. */
async function hanging(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
  });
  onTestFinished(() => void server.close());
  return await listenOn(server);
}

const nobody = async (): Promise<number> => (await freePorts(1))[0] ?? 0;
const refusing = (): Promise<number> =>
  answering((request, response) => void request.resume().on('end', () => response.writeHead(503).end()));
/** Begins an answer and never ends it. */
const stalling = (): Promise<number> => answering((_request, response) => void response.writeHead(200).write('{'));

const args = (...rest: readonly string[]) => ['feed', '--zone', '7', '--state', join(folder, 'state'), ...rest];
const feed = (...rest: readonly string[]) => runCli(args(...rest));

const TROUBLES: readonly (readonly [what: string, port: () => Promise<number>, failure: RegExp])[] = [
  ['is away', nobody, /: nothing is listening at /],
  ['answers 503 for ever', refusing, /503/],
  ['hangs', hanging, /$/],
  ['begins an answer and stops', stalling, /$/],
];

const lastLine = (stderr: string): string => stderr.trim().split('\n').at(-1) ?? '';

describe('feed --once --give-up-after', () => {
  test.each(TROUBLES)('ends with status 1 and says what it waited for when the program %s', async (_what, port, failure) => {
    const url = `http://127.0.0.1:${await port()}`;
    const { status, stderr } = await feed('--url', url, '--to', join(folder, 'out'), '--once', '--give-up-after', '1s');
    expect(status).toBe(1);
    expect(lastLine(stderr)).toContain(`shieldlog: the feed is given up after 1 s without progress; it waited for the feed of ${url}/`);
    expect(lastLine(stderr)).toMatch(failure);
  });

  test.each(
    TROUBLES.flatMap((trouble) =>
      (['http', 'splunk-hec+http', 'syslog+tcp'] as const).map((scheme) => [scheme, ...trouble] as const),
    ).filter(([scheme, what]) => scheme !== 'syslog+tcp' || what === 'is away' || what === 'hangs'),
  )('ends with status 1 and says what it waited for when the target by %s %s', async (scheme, _what, port, failure) => {
    const to = `${scheme}://127.0.0.1:${await port()}`;
    const { status, stderr } = await feed('--url', app.url, '--to', to, '--once', '--give-up-after', '1s');
    expect(status).toBe(1);
    expect(lastLine(stderr)).toMatch(/^shieldlog: the feed is given up after 1 s without progress; it waited for .*127\.0\.0\.1/);
    expect(lastLine(stderr)).toMatch(failure);
  });

  test('holds without --once too', async () => {
    const url = `http://127.0.0.1:${await nobody()}`;
    const { status, stderr } = await feed('--url', url, '--to', join(folder, 'out'), '--give-up-after', '1s');
    expect([status, lastLine(stderr)]).toEqual([1, expect.stringContaining('the feed is given up after 1 s without progress')]);
  });

  test('ends with status 1 when nobody reads what it writes to a pipe', async () => {
    for (let index = 0; index < 5; index += 1)
      await ingest(app, eventLine({ logId: `large ${index}`, log: { padding: 'x'.repeat(200_000) } }));
    const { child, stderr } = startCli(args('--url', app.url, '--to', '-', '--once', '--give-up-after', '1s'));
    child.stdout?.pause();
    const [status] = await once(child, 'exit');
    child.stdout?.resume();
    expect([status, lastLine(stderr())]).toEqual([1, expect.stringContaining('is given up after 1 s without progress; it waited for ')]);
  });

  test('waits through trouble that passes', async () => {
    const proxy = await faultyFeed(app.url, [{ status: 503 }, 'cut', { status: 503 }]);
    onTestFinished(() => proxy.stop());
    const to = join(folder, 'out');
    expect((await feed('--url', proxy.url, '--to', to, '--once', '--give-up-after', '5m')).status).toBe(0);
    expect(readFileSync(to, 'utf8')).toContain('"one"');
  });
});

import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MAX_TAIL_MESSAGE_LENGTH } from '../../../../src/cli/search/tail-stream.ts';
import { freePorts } from '../../../broker/free-port.ts';
import { recordingUpstream, type SeenRequest } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli, startPipeline } from '../cli-process.ts';
import { startOnTerminal } from '../terminal-process.ts';

const LOG = '{"big":123456789012345678901234567890}';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());
afterEach(() => killAll());

const tail = (...args: readonly string[]): CliProcess => startCli(['tail', '--url', app.url, ...args]);

const watchers = async (): Promise<number> =>
  Number(/^shieldlog_tail_watchers (\d+)/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1]);

/** Resolves when so many tails are watched. */
const watched = (count: number) => eventually(`${count} tails are watched`, async () => (await watchers()) === count);

function sample(logId: string, rest: Readonly<Record<string, unknown>> = {}): string {
  return `${eventLine({ logId, ...rest })
    .trimEnd()
    .slice(0, -1)},"log":${LOG}}\n`;
}

const idsIn = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).logId);

describe('shieldlog tail', () => {
  test('writes what a search line finds as it comes, with every digit, and ends on SIGINT with status 0', async () => {
    await watched(0);
    const cli = tail('--zone', '7', 'action:blocked', '-country:DE', 'sql injection');
    await watched(1);
    await ingest(app, sample('no-1', { action: 'logged', ua: 'sql injection' }));
    await ingest(app, sample('no-2', { action: 'blocked', country: 'DE', ua: 'sql injection' }));
    await ingest(app, sample('no-3', { action: 'blocked', ua: 'injection sql' }));
    await ingest(app, sample('no-4', { action: 'blocked', ua: 'sql injection', shieldZoneId: 1 }));
    await ingest(app, sample('yes', { action: 'Blocked', ua: 'x SQL injection' }));
    await eventually('the event has come', () => cli.stdout().endsWith('\n'));
    cli.child.kill('SIGINT');
    expect(await cli.ended).toBe(0);
    expect(idsIn(cli.stdout())).toEqual(['yes']);
    expect(cli.stdout()).toContain(`"log":${LOG}`);
    expect(cli.stderr()).toMatch(/^shieldlog tail: stopped after 1 events; --after [\w-]+ goes on from here\n$/);

    // What came in the meantime is not lost to a tail that goes on from there.
    await ingest(app, sample('later', { action: 'blocked', ua: 'sql injection' }));
    const [, after = ''] = /--after (\S+)/.exec(cli.stderr()) ?? [];
    const next = await runCli([
      'tail',
      '--url',
      app.url,
      '--zone',
      '7',
      '--after',
      after,
      '--limit',
      '1',
      '--columns',
      'logId,zone,log',
      'sql injection',
    ]);
    expect(next).toEqual({ status: 0, stdout: `{"logId":"later","zone":7,"log":${LOG}}\n`, stderr: '' });
  });

  test('ends quietly when the reader of its pipe has enough', async () => {
    await watched(0);
    const pipeline = startPipeline('"$0" "$@" | head -n 1; echo $PIPESTATUS', ['tail', '--url', app.url]);
    await watched(1);
    // The program notices a reader that is gone when it writes to it.
    const sent: Promise<unknown>[] = [];
    const timer = setInterval(() => sent.push(ingest(app, sample('a'))), 100);
    await pipeline.ended;
    clearInterval(timer);
    await Promise.all(sent);
    expect([pipeline.stdout(), pipeline.stderr()]).toEqual([expect.stringMatching(/^\{"logId":"a".*\n0\n$/), '']);
  });

  test('on a terminal is a table in which nothing acts', async () => {
    await watched(0);
    const terminal = startOnTerminal(['tail', '--url', app.url, '--columns', 'logId,action,ua'], { columns: 46 });
    await watched(1);
    await ingest(app, sample('short', { action: 'blocked', ua: '\u001b[2J\u202eevil\u0007' }));
    await ingest(app, sample('a-name-that-takes-more-room', { ua: '日本語'.repeat(40) }));
    await eventually('both have come', () => terminal.shown().includes('a-name'));
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).toContain('\u001b[31mblocked');
    const lines = stripVTControlCharacters(terminal.shown()).split('\r\n');
    expect(lines.slice(0, 4)).toEqual([
      'shieldlog tail: watching all zones; Ctrl-C ends it',
      expect.stringMatching(/^logId +action +ua$/),
      String.raw`short  blocked     \u001b[2J\u202eevil\u0007`,
      expect.stringMatching(/^a-name.*…$/),
    ]);
  });

  test('on a narrow terminal names the columns that it leaves out, once', async () => {
    await watched(0);
    const terminal = startOnTerminal(['tail', '--url', app.url, '--columns', 'logId,action,ua', '--limit', '2'], { columns: 12 });
    await watched(1);
    await ingest(app, sample('first', { action: 'blocked', ua: 'curl/8.0' }));
    await eventually('the first has come', () => terminal.shown().includes('first'));
    await ingest(app, sample('second', { action: 'blocked', ua: 'curl/8.0' }));
    expect(await terminal.ended).toBe(0);
    const told = stripVTControlCharacters(terminal.shown())
      .split('\r\n')
      .filter((line) => line.includes('no room'));
    expect(told).toEqual(['shieldlog tail: the terminal has no room for ua; --columns chooses others, --ndjson has all']);
  });

  test.each<[what: string, args: readonly string[], status: number, message: string]>([
    ['a line that the program refuses', ['ip:1.2.3.4/99'], 2, 'shieldlog: character 4: needs a prefix length'],
    ['an id that is none', ['--after', 'nonsense'], 2, 'shieldlog: --after "nonsense" is not a cursor'],
    ['a limit of nothing', ['--limit', '0'], 2, 'shieldlog: --limit "0" is not allowed; allowed: a whole number 1..'],
    [
      'a column that there is not',
      ['--columns', 'ip,host'],
      2,
      'shieldlog: --columns "ip,host" is not allowed; allowed: time, timestamp, logId',
    ],
    ['two forms', ['--table', '--ndjson'], 2, 'shieldlog: --table and --ndjson are both given; allowed: one of them\n'],
  ])('names what is wrong with %s', async (_what, args, status, message) => {
    const told = await runCli(['tail', '--url', app.url, ...args]);
    expect(told).toEqual({ status, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('where nothing listens says so, and does not try again', async () => {
    const [port] = await freePorts(1);
    const told = await runCli(['tail', '--url', `http://127.0.0.1:${port}`]);
    const line = `shieldlog: nothing is listening at http://127.0.0.1:${port}; start shieldlog there, or name another program with --url\n`;
    expect(told).toEqual({ status: 1, stdout: '', stderr: line });
  });
});

test('a program that is killed and started again takes no event from the tail', async () => {
  const folder = temporaryFolder();
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const serve = async (): Promise<CliProcess> => {
    const program = startCli(['serve', '--port', String(port), '--data-dir', join(folder, 'data')]);
    await addressOf(program);
    return program;
  };
  let program = await serve();
  const cli = startCli(['tail', '--url', url]);
  const expected: string[] = [];
  for (const round of ['first', 'second', 'third']) {
    if (round !== 'first') {
      program.child.kill('SIGKILL');
      await program.ended;
      program = await serve();
    }
    await ingest({ url }, sample(round));
    expected.push(round);
    // The first may have come before the tail had begun.
    if (round === 'first')
      await eventually('the tail has begun', async () => (await ingest({ url }, sample('seen'))) && cli.stdout().includes('seen'));
    else await eventually(`${round} has come`, () => cli.stdout().includes(round));
  }
  cli.child.kill('SIGTERM');
  expect(await cli.ended).toBe(0);
  expect(idsIn(cli.stdout()).filter((id) => id !== 'seen' && id !== 'first')).toEqual(['second', 'third']);
  expect(cli.stderr()).toMatch(/shieldlog tail: [^\n]+; trying again in \d+\.\d s\n(.*\n)*shieldlog tail: works again\n/);
});

/** Messages of the stream: an event, or the note that events were left out. */
const READY = 'id: r\nevent: ready\ndata: {"cursor":"r"}\n\n';
const message = (id: string): string => `id: ${id}\nevent: event\ndata: {"logId":"${id}"}\n\n`;

/** A program that answers each request for the tail by the next of these. */
const streaming = (...answers: readonly ((response: ServerResponse, request: SeenRequest) => void)[]) => {
  const left = [...answers];
  return recordingUpstream((request, response) => left.shift()?.(response, request));
};

const stream = (response: ServerResponse, text: string): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text);
  return response;
};

describe('a stream that breaks off', () => {
  test('is opened again behind the last event or heartbeat that came whole', async () => {
    let first: ServerResponse | undefined;
    await using server = await streaming(
      (response) => {
        first = stream(response, `${READY}${message('a')}`);
      },
      (response) => response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '0' }).end('{"detail":"busy"}'),
      (response) => stream(response, `${READY}${message('c')}`),
    );
    const cli = startCli(['tail', '--url', server.url, '--limit', '2']);
    await eventually('the first event has come', () => cli.stdout() !== '');
    first?.end(': alive\nid: b\n\nid: c\nevent: event\ndata: {"logId":');
    expect([await cli.ended, idsIn(cli.stdout())]).toEqual([0, ['a', 'c']]);
    expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'b', 'b']);
    expect(
      cli
        .stderr()
        .split('\n')
        .map((line) => line.replace(/in \d\.\d s/, 'in N s').replace(server.url, 'URL')),
    ).toEqual([
      'shieldlog tail: the program has ended the stream; trying again in N s',
      'shieldlog tail: URL answered 503: busy; trying again in N s',
      'shieldlog tail: works again',
      '',
    ]);
  });

  test('and whose events have expired meanwhile says so and goes on from the oldest', async () => {
    const expired = JSON.stringify({ status: 416, detail: 'gone', oldestCursor: 'oldest' });
    await using server = await streaming(
      (response) => stream(response, READY).end(),
      (response) => response.writeHead(416, { 'content-type': 'application/problem+json' }).end(expired),
      (response) => stream(response, message('x')),
    );
    const { status, stdout, stderr } = await runCli(['tail', '--url', server.url, '--limit', '1']);
    expect([status, idsIn(stdout), server.seen.at(-1)?.headers['last-event-id']]).toEqual([0, ['x'], 'oldest']);
    expect(stderr).toContain('shieldlog tail: EVENTS WERE MISSED: they expired before they were read');
  });

  test('and whose program has gone back meanwhile says so and goes on with what came since', async () => {
    const ahead = JSON.stringify({ status: 416, errorKey: 'feed.cursor_ahead', detail: 'gone', oldestCursor: 'end' });
    await using server = await streaming(
      (response) => stream(response, READY).end(),
      (response) => response.writeHead(416, { 'content-type': 'application/problem+json' }).end(ahead),
      (response) => stream(response, message('x')),
    );
    const { status, stdout, stderr } = await runCli(['tail', '--url', server.url, '--limit', '1']);
    expect([status, idsIn(stdout), server.seen.at(-1)?.headers['last-event-id']]).toEqual([0, ['x'], 'end']);
    expect(stderr).toContain('shieldlog tail: THE PROGRAM HAS GONE BACK');
  });

  test('and is refused afterwards ends the tail with status 1', async () => {
    await using server = await streaming(
      (response) => stream(response, READY).end(),
      (response) => response.writeHead(403).end('{"detail":"no more"}'),
    );
    const { status, stderr } = await runCli(['tail', '--url', server.url]);
    expect([status, stderr.split('\n').at(-2)]).toEqual([1, `shieldlog: ${server.url} answered 403: no more`]);
  });
});

test.each([
  ['unread', '3 events were left out here: they came faster than they were read; shieldlog feed misses none'],
  ['costly', '3 events were left out here: trying the conditions on them costs too much; give fewer or narrower ones'],
])('events that were left out as %s are told', async (reason, told) => {
  const dropped = `event: dropped\ndata: {"count":3,"reason":"${reason}"}\n\n`;
  await using server = await streaming((response) => stream(response, `${READY}${message('a')}${dropped}${message('b')}`));
  const { stdout, stderr } = await runCli(['tail', '--url', server.url, '--limit', '2']);
  expect([idsIn(stdout), stderr]).toEqual([['a', 'b'], `shieldlog tail: ${told}\n`]);
});

test('a message that is too long to be held ends the tail', async () => {
  await using server = await streaming((response) => stream(response, READY).end(`data: ${'x'.repeat(MAX_TAIL_MESSAGE_LENGTH + 1)}`));
  const told = await runCli(['tail', '--url', server.url]);
  expect(told).toEqual({ status: 1, stdout: '', stderr: 'shieldlog: a message of the stream is longer than 16777216 characters\n' });
});

test.each([
  ['another type', 'text/html', '<p>', 'is no shieldlog: it answered with text/html'],
  ['events that are no JSON', 'text/event-stream', 'event: event\ndata: [\n\n', 'an event that came is no JSON'],
])('what answers with %s is refused', async (_what, type, text, why) => {
  await using server = await streaming((response) => response.writeHead(200, { 'content-type': type }).end(text));
  const told = await runCli(['tail', '--url', server.url, '--table']);
  expect(told).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(why) });
});

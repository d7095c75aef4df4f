import type { ServerResponse } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MAX_RECENT_EVENTS, MAX_RECENT_LENGTH } from '../../../../src/cli/search/recent-events.ts';
import { type RecordingUpstream, recordingUpstream, type SeenRequest } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { ingest, type RunningApp, startApp } from '../../running-app.ts';
import { killAll, runCli, startCli } from '../cli-process.ts';
import { startOnTerminal } from '../terminal-process.ts';

const LOG = '{"big":123456789012345678901234567890}';
const MINUTE_MS = 60_000;

let app: RunningApp;
let now: number;

beforeAll(async () => {
  app = await startApp();
  now = Date.now();
});

afterAll(() => app.stop());
afterEach(() => killAll());

/** One line of an event that is so many milliseconds old. */
function sample(logId: string, ageMs: number, rest: Readonly<Record<string, unknown>> = {}): string {
  const event = { logId, shieldZoneId: 7, timestamp: Date.now() - ageMs, ...rest };
  return `${JSON.stringify(event).slice(0, -1)},"log":${LOG}}\n`;
}

const take = async (...lines: readonly string[]): Promise<void> => {
  expect((await ingest(app, lines.join(''))).body).toMatchObject({ accepted: lines.length, duplicates: 0 });
};

const idsIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).logId);

/** Answers what the app answers, after `before` has been done for the request. */
async function inFrontOfApp(before: (request: SeenRequest) => Promise<void>): Promise<RecordingUpstream> {
  const pass = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
    await before(request);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { accept = '', 'last-event-id': after } = request.headers;
    const headers = { accept, 'content-type': 'application/json', ...(after === undefined ? {} : { 'last-event-id': String(after) }) };
    const body = request.method === 'POST' ? { body: request.body } : {};
    const answer = await fetch(`${app.url}${request.url}`, { method: request.method, headers, ...body, signal: gone.signal });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  };
  return recordingUpstream((request, response) => {
    // The command closes a tail when it has what it wants.
    pass(request, response).catch((error: Error) => response.destroy(error));
  });
}

const kindOf = ({ url }: SeenRequest): string => /([a-z]+)(\?.*)?$/.exec(url)?.[1] ?? '';

const READY = 'id: r\nevent: ready\ndata: {"cursor":"r"}\n\n';
const message = (id: string): string => `id: ${id}\nevent: event\ndata: ${event(id, 1)}\n\n`;
const event = (logId: string, timestamp: number): string => JSON.stringify({ logId, timestamp, shieldZoneId: 7 });

const stream = (response: ServerResponse, text: string): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text);
};

const page = (response: ServerResponse, rows: readonly string[], total = rows.length): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(`{"rows":[${rows.join(',')}],"total":${total}}`);
};

/** A program that answers by these, one after the other. */
const answering = (...answers: readonly ((response: ServerResponse) => void)[]): Promise<RecordingUpstream> => {
  const left = [...answers];
  return recordingUpstream((_request, response) => left.shift()?.(response));
};

describe('shieldlog tail --last', () => {
  test('shows the events of that time that a line finds, the oldest first, and then those that come', async () => {
    await take(
      sample('late', 20 * MINUTE_MS, { ua: 'first' }),
      sample('new', MINUTE_MS, { ua: 'first', action: 'blocked' }),
      sample('old', 9 * MINUTE_MS, { ua: 'first', shieldZoneId: 1 }),
      sample('other', MINUTE_MS, { ua: 'second' }),
      sample('left-out', MINUTE_MS, { ua: 'first', country: 'DE' }),
      sample('elsewhere', MINUTE_MS, { ua: 'first', shieldZoneId: 2 }),
      sample('ahead', -20_000, { ua: 'first' }),
    );
    const cli = startCli(['tail', '--url', app.url, '--zone', '1,7', '--last', '15m', 'first', '-country:DE']);
    await eventually('the past is shown', () => idsIn(cli.stdout()).length === 3);
    await take(sample('other-2', 0, { ua: 'second' }), sample('live', 30 * MINUTE_MS, { ua: 'first' }));
    await eventually('the new event is shown', () => cli.stdout().includes('live'));
    cli.child.kill('SIGINT');
    expect(await cli.ended).toBe(0);
    expect(idsIn(cli.stdout())).toEqual(['old', 'new', 'ahead', 'live']);
    expect(cli.stdout().split(`"log":${LOG}`).length - 1).toBe(4);
    expect(cli.stderr()).toMatch(/^shieldlog tail: stopped after 4 events; --after [\w-]+ goes on from here\n$/);
  });

  test.each(['all', '1,7'])('shows every event once, whenever it comes in while the command starts, of zones %s', async (zones) => {
    const word = `zones-${zones}`;
    const expected: string[] = [];
    /** Takes events all over the window, of the same ids at several times and in both zones. */
    const comeIn = async (count: number): Promise<void> => {
      const begin = expected.length;
      const lines = Array.from({ length: count }, (_, index) => {
        const [shieldZoneId, timestamp] = [index % 2 === 0 ? 1 : 7, now - ((index * 7_919) % (10 * MINUTE_MS)) - begin];
        const logId = `${word}-${index % 5}`;
        expected.push(`${shieldZoneId} ${timestamp} ${logId}`);
        return sample(logId, 0, { shieldZoneId, timestamp, ua: word });
      });
      await take(...lines);
    };
    await comeIn(1_200);
    await using program = await inFrontOfApp(() => comeIn(40));
    const cli = startCli(['tail', '--url', program.url, '--zone', zones, '--last', '15m', word]);
    await eventually('the tail is watched again', () => program.seen.filter((request) => kindOf(request) === 'tail').length === 2);
    await comeIn(40);
    await take(sample('end', 0, { ua: word }));
    await eventually('the last event is shown', () => cli.stdout().includes('"end"'));
    const shown = cli.stdout().split('\n').slice(0, -1);
    const keys = shown.map((line) => JSON.parse(line)).map(({ shieldZoneId, timestamp, logId }) => `${shieldZoneId} ${timestamp} ${logId}`);
    expect(keys.slice(0, -1).sort()).toEqual(expected.sort());
    expect(program.seen.map(kindOf)).toEqual(['tail', 'explore', 'explore', 'explore', 'tail']);
  });

  test('counts the events of the past for --limit, of which it shows the newest', async () => {
    await take(...[1, 2, 3, 4].map((age) => sample(`limited-${age}`, age * 1_000, { ua: 'limited' })));
    const args = ['tail', '--url', app.url, '--columns', 'logId', '--last', '1h', 'limited'];
    expect(await runCli([...args, '--limit', '2'])).toEqual({
      status: 0,
      stdout: '{"logId":"limited-2"}\n{"logId":"limited-1"}\n',
      stderr: 'shieldlog tail: only the newest 2 events of the last 1h are shown; 2 older ones are not\n',
    });
    const cli = startCli([...args, '--limit', '5']);
    await eventually('the past is shown', () => idsIn(cli.stdout()).length === 4);
    await take(sample('limited-live', 0, { ua: 'limited' }), sample('limited-too-many', 0, { ua: 'limited' }));
    expect([await cli.ended, idsIn(cli.stdout()).at(-1), cli.stderr()]).toEqual([0, 'limited-live', '']);
  });

  test('shows at most so many of the newest, and tells how many are older', async () => {
    await take(
      ...Array.from({ length: MAX_RECENT_EVENTS + 3 }, (_, age) => sample(`many-${age}`, age, { timestamp: now - age, ua: 'many' })),
    );
    const cli = startCli(['tail', '--url', app.url, '--last', '1h', '--limit', String(MAX_RECENT_EVENTS + 1), 'many']);
    await eventually('the past is shown', () => cli.stdout().includes('"many-0"'));
    await take(sample('live', 0, { ua: 'many' }));
    expect(await cli.ended).toBe(0);
    const ids = idsIn(cli.stdout());
    expect([ids.length, ids[0], ...ids.slice(-2)]).toEqual([MAX_RECENT_EVENTS + 1, `many-${MAX_RECENT_EVENTS - 1}`, 'many-0', 'live']);
    expect(cli.stderr()).toBe(
      `shieldlog tail: only the newest ${MAX_RECENT_EVENTS} events of the last 1h are shown; 3 older ones are not\n`,
    );
  });

  test('reads no further page of events that are very long', async () => {
    const ua = 'x'.repeat(MAX_RECENT_LENGTH / 500);
    const rows = Array.from({ length: 500 }, (_, index) => JSON.stringify({ logId: `e${index}`, timestamp: 1, shieldZoneId: 7, ua }));
    await using server = await answering(
      (response) => stream(response, READY),
      (response) => page(response, rows, 700),
      (response) => stream(response, `${READY}${message('live')}`),
    );
    const { stdout, stderr } = await runCli(['tail', '--url', server.url, '--last', '1h', '--limit', '501', '--columns', 'logId']);
    expect([idsIn(stdout).length, idsIn(stdout).at(-1)]).toEqual([501, 'live']);
    expect(stderr).toBe('shieldlog tail: only the newest 500 events of the last 1h are shown; 200 older ones are not\n');
  });

  test('on a terminal is a table, the past and what comes in one', async () => {
    await take(sample('shown-2', 1_000, { ua: 'table' }), sample('shown-1', 2_000, { ua: 'table' }));
    const terminal = startOnTerminal(['tail', '--url', app.url, '--last', '5m', '--columns', 'logId,ua', 'table'], { columns: 60 });
    await eventually('the past is shown', () => terminal.shown().includes('shown-2'));
    await take(sample('live', 0, { ua: 'table' }));
    await eventually('the new event is shown', () => terminal.shown().includes('live'));
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
    expect(stripVTControlCharacters(terminal.shown()).split('\r\n').slice(0, 5)).toEqual([
      'shieldlog tail: watching all zones; Ctrl-C ends it',
      'logId    ua',
      'shown-1  table',
      'shown-2  table',
      'live     table',
    ]);
  });

  test.each<[what: string, args: readonly string[], status: number, message: string]>([
    ['two beginnings', ['--last', '1h', '--after', 'x'], 2, 'shieldlog: --after and --last are both given; allowed: one of them\n'],
    ['an empty id', ['--after', ''], 2, 'shieldlog: --after "" is not allowed; allowed: an id that tail told when it ended, or '],
    ['a time', ['--last', '80h'], 2, 'shieldlog: --last "80h" is not allowed; allowed: a time such as 30s, 15m, 1h, 1d, up to 3d\n'],
    ['a value', ['--last', '1h', 'a', 'ip:1.2.3.4/99'], 2, '/99"\n  a ip:1.2.3.4/99\n       ^\n'],
  ])('names what is wrong with %s', async (_what, args, status, told) => {
    expect(await runCli(['tail', '--url', app.url, ...args])).toEqual({ status, stdout: '', stderr: expect.stringContaining(told) });
  });
});

describe('a tail that shows the past, and is answered', () => {
  test('nothing by the search, ends on SIGINT with status 0 and the id behind which nothing is missed', async () => {
    await using server = await answering((response) => stream(response, `${READY}${message('a')}`));
    const cli = startCli(['tail', '--url', server.url, '--last', '15m']);
    await eventually('it searches', () => server.seen.length === 2);
    cli.child.kill('SIGINT');
    expect([await cli.ended, cli.stdout(), cli.stderr()]).toEqual([
      0,
      '',
      'shieldlog tail: stopped before all events of the last 15m were shown; --after r goes on behind them\n',
    ]);
  });

  test('that the program is busy, asks again, and goes on where it began', async () => {
    const busy = (response: ServerResponse): void => {
      response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '0' }).end('{"detail":"busy"}');
    };
    await using server = await answering(
      (response) => stream(response, `${READY}${message('a')}`),
      busy,
      (response) => page(response, [event('a', 1), event('past', 0)]),
      busy,
      (response) => stream(response, `${READY}${message('a')}${message('b')}`),
    );
    const { status, stdout, stderr } = await runCli(['tail', '--url', server.url, '--last', '15m', '--limit', '3']);
    expect([status, idsIn(stdout)]).toEqual([0, ['past', 'a', 'b']]);
    expect(server.seen.map((request) => [kindOf(request), request.headers['last-event-id']])).toEqual([
      ['tail', undefined],
      ['explore', undefined],
      ['explore', undefined],
      ['tail', 'r'],
      ['tail', 'r'],
    ]);
    expect(stderr.split('\n').map((line) => line.replace(/^.* answered 503: busy; trying again in \d\.\d s$/, 'busy'))).toEqual([
      'busy',
      'shieldlog tail: works again',
      'busy',
      'shieldlog tail: works again',
      '',
    ]);
  });

  test.each<[what: string, answers: readonly ((response: ServerResponse) => void)[], message: string]>([
    ['that the key opens nothing', [(response) => response.writeHead(401).end('{"detail":"no key"}')], ' answered 401: no key\n'],
    [
      'that the key opens nothing any more',
      [(response) => stream(response, READY), (response) => response.writeHead(401).end('{"detail":"no more"}')],
      ' answered 401: no more\n',
    ],
    [
      'by what is no search',
      [(response) => stream(response, READY), (response) => page(response, ['['])],
      'shieldlog: what answered is no shieldlog: its answer is not that of a search\n',
    ],
    [
      'by a stream that does not begin',
      [(response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')],
      'shieldlog: the program has ended the stream before it had begun\n',
    ],
  ])('%s, ends with status 1', async (_what, answers, told) => {
    await using server = await answering(...answers);
    const ended = await runCli(['tail', '--url', server.url, '--last', '15m']);
    expect(ended).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(told) });
  });
});

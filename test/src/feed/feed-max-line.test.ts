import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { FEED_FORMAT_NAMES } from '../../../src/formats/feed-formats.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { runHere } from '../cli/command-run.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';
import { syslogListener } from '../sinks/syslog-listener.ts';

const LONG = 'x'.repeat(3_000);
const LOG = { Message: LONG, RemoteIp: '192.0.2.7' };

/** One of each kind, a hundred times, so that threads write some of them: short, with a long log, and with a long text beside it. */
const EVENTS = Array.from({ length: 300 }, (_, index): { readonly logId: string; readonly url?: string; readonly log: object } => ({
  logId: `e${index}`,
  ...(index % 3 === 1
    ? { log: LOG }
    : index % 3 === 2
      ? { url: `https://www.example.com/${LONG}`, log: LOG }
      : { log: { Message: 'short' } }),
}));

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const { body } = await ingest(app, EVENTS.map((event) => eventLine(event)).join(''));
  expect(body.accepted).toBe(300);
});

afterAll(() => app.stop());

async function feed(query: string) {
  const { status, text } = await ask(app, `/shield/event-logs/7/feed?${query}`);
  const lines = text.trimEnd().split('\n');
  const last = JSON.parse(lines.pop() ?? '');
  expect([status, lines.length]).toEqual([200, last.count]);
  return { lines, last };
}

const sizeOf = (log: object): number => Buffer.byteLength(JSON.stringify(log));

describe('a feed with maxLine', () => {
  test('has the size of a log in place of a log that is too long, and counts it', async () => {
    const { lines, last } = await feed('maxLine=2048');
    const events = lines.map((line) => JSON.parse(line));
    expect(events.map(({ log }) => log)).toEqual(EVENTS.map(({ log }, index) => (index % 3 === 0 ? log : { shortenedBytes: sizeOf(log) })));
    expect(events.map(({ url }) => url)).toEqual(EVENTS.map(({ url }) => url));
    expect(last).toMatchObject({ count: 300, shortened: 200, tooLong: 100 });
    expect(lines.filter((line) => Buffer.byteLength(line) > 2_048)).toHaveLength(100);
  });

  test('has whole lines where they are within it, and counts nothing', async () => {
    const [limited, whole] = [await feed('maxLine=65536'), await feed('')];
    // At its end the cursor of a store on ClickHouse is the time up to which it was read.
    expect(limited).toEqual({ ...whole, last: { ...whole.last, cursor: limited.last.cursor } });
    expect(Object.keys(limited.last)).toEqual(['cursor', 'more', 'count']);
  });

  test.each(FEED_FORMAT_NAMES)('shortens the event before it is written as %s', async (format) => {
    const { lines, last } = await feed(`maxLine=2048&format=${format}`);
    const whole = (await feed(`format=${format}`)).lines;
    const tooLong = lines.filter((line) => Buffer.byteLength(line) > 2_048).length;
    const changed = lines.filter((line, index) => line !== whole[index]);
    expect([last.shortened ?? 0, last.tooLong ?? 0]).toEqual([whole.filter((line) => Buffer.byteLength(line) > 2_048).length, tooLong]);
    expect(changed.length).toBe(last.shortened);
    const holdsEvent = format !== 'cef';
    expect(changed.every((line) => line.includes('shortenedBytes') === holdsEvent && !line.includes('192.0.2.7'))).toBe(true);
  });

  test('goes on from its cursors as one without', async () => {
    const first = await feed('maxLine=1024&limit=100');
    const rest = await feed(`maxLine=1024&cursor=${first.last.cursor}`);
    expect([...first.lines, ...rest.lines].map((line) => JSON.parse(line).logId)).toEqual(EVENTS.map(({ logId }) => logId));
    expect(first.last.shortened + rest.last.shortened).toBe(200);
  });

  test('is counted in /metrics', async () => {
    const read = async (): Promise<number[]> => {
      const { text } = await ask(app, '/metrics');
      const sent = (label: string) =>
        Number(new RegExp(`^shieldlog_feed_long_lines_total\\{sent="${label}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
      return [sent('shortened'), sent('too_long')];
    };
    const [shortened = 0, tooLong = 0] = await read();
    await feed('maxLine=2048');
    expect(await read()).toEqual([shortened + 100, tooLong + 100]);
  });
});

describe('shieldlog feed --max-line', () => {
  const feedTo = (to: string, ...args: string[]) =>
    runHere(['feed', '--url', app.url, '--zone', '7', '--once', '--state', join(temporaryFolder(), 'state'), '--to', to, ...args]);

  test('shortens the lines of a file, and tells how many', async () => {
    const file = join(temporaryFolder(), 'out.ndjson');
    const { status, stderr } = await feedTo(file, '--max-line', '2k', '--limit', '70');
    expect(status).toBe(0);
    expect(stderr).toContain('; 200 are without their log because of --max-line, 100 of which are longer all the same; state: ');
    const logs = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).log);
    expect(logs.filter(({ shortenedBytes }) => shortenedBytes === sizeOf(LOG))).toHaveLength(200);
  });

  test('says nothing where nothing is longer', async () => {
    const { stderr } = await feedTo('-', '--max-line', '1m');
    expect(stderr).toMatch(/^shieldlog feed: 300 events delivered to standard output; state: \S+\n$/);
  });

  test('has a syslog receiver get short messages', async () => {
    const listener = await syslogListener(() => 'read');
    onTestFinished(() => listener.stop());
    expect((await feedTo(`syslog+tcp://127.0.0.1:${listener.port}`, '--max-line', '8000')).status).toBe(0);
    expect([listener.messages.length, Math.max(...listener.messages.map((message) => Buffer.byteLength(message))) < 8_200]).toEqual([
      300,
      true,
    ]);
  });
});

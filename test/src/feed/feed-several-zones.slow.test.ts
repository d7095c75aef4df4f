import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { runCli } from '../cli/cli-process.ts';
import { ask, ingest, type RunningApp, startApp } from '../running-app.ts';
import { idsIn } from '../sinks/sample-events.ts';
import { openTail } from '../tail/tail-client.ts';

const EVENTS = 24_000;
const HOUR_MS = 3_600_000;
const ZONES = [1, 7];

const zoneOf = (index: number) => (index * 31) % 9;
const wanted = Array.from({ length: EVENTS }, (_, index) => index)
  .filter((index) => ZONES.includes(zoneOf(index)))
  .map((index) => `e${index}`);

let app: RunningApp;

/** Events of nine zones over two and a half days, in an order that has nothing to do with their times, written at once. */
beforeAll(async () => {
  app = await startApp();
  const now = Date.now();
  const lines = Array.from({ length: EVENTS }, (_, index) => {
    const timestamp = now - 62 * HOUR_MS + ((index * 7_919) % 24_001) * 9_000;
    return `${JSON.stringify({ logId: `e${index}`, shieldZoneId: zoneOf(index), timestamp })}\n`;
  });
  for (let from = 0; from < EVENTS; from += 6_000) {
    expect((await ingest(app, lines.slice(from, from + 6_000).join(''))).body.accepted).toBe(6_000);
  }
  await app.store.settle('flush');
});

afterAll(() => app.stop());

// Lists that differ would be printed line by line.
const expectWanted = (ids: readonly string[]) => expect(ids.join()).toBe(wanted.join());

test.each(['native', 'ecs'])(
  'two zones that were written together over several half days: an answer in %s has each of their events once',
  async (format) => {
    const { status, text } = await ask(app, `/shield/event-logs/7,1/feed?limit=100000&format=${format}`);
    const lines = text.trimEnd().split('\n');
    expect([status, JSON.parse(lines.pop() ?? '').count]).toEqual([200, wanted.length]);
    expectWanted(
      lines.map((line) => {
        const { logId, event } = JSON.parse(line);
        // In ECS an id begins with zone and time.
        return logId ?? event.id.split(':').at(-1);
      }),
    );
  },
);

test('shieldlog feed writes each of them into a file once', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'out.ndjson');
  const state = join(folder, 'state.json');
  const arguments_ = ['feed', '--url', app.url, '--zone', '1,7', '--to', file, '--state', state, '--once', '--limit', '2000'];
  expect((await runCli(arguments_)).status).toBe(0);
  expectWanted(idsIn(readFileSync(file, 'utf8')));
});

test('a tail that resumes behind the first of them has the others once', async () => {
  const { text } = await ask(app, '/shield/event-logs/1,7/feed?limit=1');
  const { cursor } = JSON.parse(text.trimEnd().split('\n')[1] ?? '');
  const tail = await openTail(app, { zone: '1,7', lastEventId: cursor });
  onTestFinished(() => tail.close());
  await eventually('the last of them', () => tail.logIds().at(-1) === wanted.at(-1));
  expectWanted([wanted[0] ?? '', ...tail.logIds()]);
});

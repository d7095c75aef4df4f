import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressOf, killAll, startCli } from '../cli/cli-process.ts';
import { eventLine, ingest } from '../running-app.ts';

const EVENTS = 1_000_000;
const UPLOAD = 50_000;
const ZONES = [1, 2, 7, 9];
const HOURS = 24;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-million-'));
});

afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

/** Event by event another zone and another hour, so that every flush spans zones and half days. */
function upload(first: number, startMs: number): string {
  return Array.from({ length: UPLOAD }, (_, index) => {
    const event = first + index;
    const timestamp = startMs + (event % HOURS) * 3_600_000 + (event % 3_600_000);
    return eventLine({ logId: `e${event}`, shieldZoneId: ZONES[event % ZONES.length] ?? 0, timestamp, url: `/${event % 1_000}` });
  }).join('');
}

/** How often each event comes in a feed that is read to its end, page by page. */
async function timesRead(url: string, zones: string, limit: number): Promise<Uint8Array> {
  const times = new Uint8Array(EVENTS);
  let cursor = '';
  for (let more = true; more; ) {
    const answer = await fetch(`${url}/shield/event-logs/${zones}/feed?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect([zones, answer.status]).toEqual([zones, 200]);
    const lines = (await answer.text()).trimEnd().split('\n');
    const end = JSON.parse(lines.pop() ?? '');
    expect(lines.length).toBe(end.count);
    for (const line of lines) {
      const event = Number(/^\{"logId":"e(\d+)"/.exec(line)?.[1]);
      times[event] = (times[event] as number) + 1;
    }
    ({ cursor, more } = end);
  }
  return times;
}

test('a million events are in the feed of all zones, and of a few, once each with the least memory that is allowed', async () => {
  const program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')], { MEMORY_LIMIT_MB: '256' });
  const url = await addressOf(program);
  const startMs = Date.now() - (HOURS + 2) * 3_600_000;
  for (let first = 0; first < EVENTS; first += UPLOAD) expect((await ingest({ url }, upload(first, startMs))).status).toBe(202);
  const all = await timesRead(url, 'all', 100_000);
  expect(all.every((times) => times === 1)).toBe(true);
  const three = await timesRead(url, '1,2,7', 20_000);
  expect(three.every((times, event) => times === (ZONES[event % ZONES.length] === 9 ? 0 : 1))).toBe(true);
});

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STORED_TEXT_BYTES } from '../../../query/text-bytes.ts';
import { derived } from '../../fixtures/derived.ts';
import { storeRuns } from '../../fixtures/test-store.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';
import { ask, ingest, type RunningApp, startApp } from '../running-app.ts';

const MIB = 1024 * 1024;

/** Three programs, of which each gets what the feed of the one before gives. */
let apps: RunningApp[];

beforeEach(async () => {
  apps = [await startApp(), await startApp(), await startApp()];
});

afterEach(async () => {
  for (const app of apps) await app.stop();
});

/** Sends a body through the three programs; resolves with the lines of their feeds behind `cursors`, and where these end. */
async function feedsOf(body: string, cursors: readonly (string | null)[]): Promise<{ feeds: string[]; ends: string[] }> {
  const [feeds, ends]: [string[], string[]] = [[], []];
  let sent = body;
  for (const [index, app] of apps.entries()) {
    const lines = sent.trim().split('\n').length;
    expect((await ingest(app, sent)).body).toMatchObject({ accepted: lines, duplicates: derived.duplicates(0), rejected: [] });
    const cursor = cursors[index];
    const { text } = await ask(app, `/shield/event-logs/all/feed?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
    const end = text.lastIndexOf('\n', text.length - 2) + 1;
    sent = text.slice(0, end);
    feeds.push(sent);
    ends.push((JSON.parse(text.slice(end)) as { cursor: string }).cursor);
  }
  return { feeds, ends };
}

/** JSON texts without their quotes: letters, what grows in escapes, and what shrinks in them. */
const UNITS = [
  'x',
  'é',
  '😀',
  '\\u0001',
  '\\u001f',
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\ud83d\\ude00',
  '\u2028',
  '\u007f',
  '<',
  '\\u0000',
];

function filled(unit: string, bytes: number): string {
  const times = Math.floor(bytes / Buffer.byteLength(unit));
  return unit.repeat(times) + 'x'.repeat(bytes - times * Buffer.byteLength(unit));
}

/** An event that has all its bytes but for `spareBytes`, and a log of its own of `logBytes`, or none where that is null. */
function largest(id: string, unit: string, field: string, spareBytes: number, logBytes: number | null, head: string): string {
  const log = logBytes === null ? '' : `,"log":{"l":"${filled(unit, logBytes - 8)}"}`;
  const around = `{${head},"action":"${id}","${field}":""}`;
  return `${around.slice(0, -2)}${filled(unit, MIB - spareBytes - Buffer.byteLength(around))}"${log}}`;
}

test('every line of the feed is an event again, as large as events may be, in a second and a third program', async () => {
  let count = 0;
  let cursors: readonly (string | null)[] = [null, null, null];
  const now = Date.now();
  const head = fc.constantFrom(
    `"shieldZoneId":7,"timestamp":${now}`,
    `"shieldZoneId":-0,"timestamp":${now}.0,"asn":64500`,
    `"logId":"ID","shieldZoneId":7,"timestamp":"${new Date(now).toISOString()}","ip":"2001:db8::1","more":[1]`,
  );
  const sizes = fc.constantFrom<readonly [number, number | null]>(
    [0, null],
    [1, null],
    [0, MIB - 30],
    [0, 8],
    [300_000, MIB - 30],
    [900_000, null],
  );
  await assertAsyncProperty(
    fc.asyncProperty(head, fc.constantFrom(...UNITS), fc.constantFrom('url', 'ua', 'other'), sizes, async (members, unit, field, size) => {
      count += 1;
      const [spareBytes, logBytes] = size;
      // What is no field goes into the log, and so does a text that is too long for one, so that a large log has no room for it.
      const hasLargeLog = logBytes !== null && logBytes > 8;
      const event = largest(
        String(count),
        unit,
        hasLargeLog && field === 'other' ? 'url' : field,
        hasLargeLog ? MIB - STORED_TEXT_BYTES : spareBytes + (logBytes === 8 ? 60 : 0),
        logBytes,
        members.replace('ID', `id-${count}`),
      );
      const { feeds, ends } = await feedsOf(`${event}\n`, cursors);
      cursors = ends;
      expect(feeds[1]).toBe(feeds[0]);
      expect(feeds[2]).toBe(feeds[1]);
    }),
    { numRuns: storeRuns(12) },
  );
});

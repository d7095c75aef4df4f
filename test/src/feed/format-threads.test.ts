import { afterEach, expect, test } from 'vitest';
import { FormatThreads } from '../../../src/feed/format-threads.ts';
import { addLongLines, LineLimit, NO_LONG_LINES } from '../../../src/feed/line-limit.ts';
import { FEED_FORMAT_NAMES, FEED_FORMATS, type FeedFormatName } from '../../../src/formats/feed-formats.ts';
import type { FeedLine } from '../../../store/event-store.ts';
import { readEvent } from '../../../store/feed-event.ts';
import { CORPUS } from '../formats/feed-events.ts';

let threads = new FormatThreads();
afterEach(async () => {
  await threads.close();
  threads = new FormatThreads();
});

/** The whole corpus eight times: threads write some of the pieces, and the main thread writes those for which no thread is free. */
const CORPUS_LINES = CORPUS.map(({ event: { sequence, ingestedAtMs, json } }): FeedLine => {
  const bytes = Buffer.from(`before ${json} behind`);
  return { sequence, ingestedAtMs, bytes, start: 7, end: bytes.length - 7 };
});
const LINES = Array.from({ length: 8 }, () => CORPUS_LINES).flat();

async function* inPages(lines: readonly FeedLine[], size: number): AsyncGenerator<readonly FeedLine[]> {
  for (let from = 0; from < lines.length; from += size) yield lines.slice(from, from + size);
}

/** Of the pieces that were written. */
let longLines = NO_LONG_LINES;

async function written(pages: AsyncIterable<readonly FeedLine[]>, name: FeedFormatName, maxLine: number | null = null): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const lines of pages) {
    let events = 0;
    for await (const piece of threads.write(lines, { format: name, maxLine })) {
      chunks.push(piece.chunk);
      events += piece.events;
      longLines = addLongLines(longLines, piece.longLines);
      expect(piece.lastSequence).toBe(lines[events - 1]?.sequence);
      expect(piece.chunk.toString('utf8').split('\n')).toHaveLength(piece.events + 1);
    }
    expect(events).toBe(lines.length);
  }
  return Buffer.concat(chunks).toString('utf8');
}

test.each(FEED_FORMAT_NAMES)('%s: the main thread and the others write the same lines, in the order of the events', async (name) => {
  const writeEvent = FEED_FORMATS[name].createWriter();
  const expected = LINES.map((line) => `${writeEvent(readEvent(line))}\n`).join('');
  for (const size of [7, 1_000, LINES.length]) expect((await written(inPages(LINES, size), name)) === expected).toBe(true);
  expect(await written(inPages([], 1), name)).toBe('');
});

test.each(FEED_FORMAT_NAMES)('%s: the main thread and the others shorten and count the same lines', async (name) => {
  const maxLine = 1_200;
  const limit = new LineLimit(maxLine);
  const writeEvent = FEED_FORMATS[name].createWriter();
  const expected = LINES.map((line) => `${limit.written(line, writeEvent)}\n`).join('');
  expect(limit.counts.tooLong).toBeGreaterThan(0);
  longLines = NO_LONG_LINES;
  expect((await written(inPages(LINES, LINES.length), name, maxLine)) === expected).toBe(true);
  expect(longLines).toEqual(limit.counts);
});

test('an answer that is cut short leaves nothing behind, and its reader is told when the threads end meanwhile', async () => {
  for await (const { chunk } of threads.write(LINES, { format: 'ocsf', maxLine: null })) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  const chunks = threads.write(LINES, { format: 'ocsf', maxLine: null });
  await chunks.next();
  const closed = threads.close();
  const readOn = async () => {
    for await (const { chunk } of chunks) expect(chunk.length).toBeGreaterThan(0);
  };
  await expect(readOn()).rejects.toThrow();
  await closed;
});

test('a long event is written as a short one is', async () => {
  const [line] = CORPUS_LINES as [FeedLine];
  const json = line.bytes.toString('utf8', line.start, line.end);
  const bytes = Buffer.from(`${json.slice(0, -1)},"more":"${'x'.repeat(500_000)}"}`);
  const long = { ...line, bytes, start: 0, end: bytes.length };
  const writeEvent = FEED_FORMATS.ecs.createWriter();
  const lines = Array.from({ length: 6 }, () => long);
  expect((await written(inPages(lines, 6), 'ecs')) === lines.map((each) => `${writeEvent(readEvent(each))}\n`).join('')).toBe(true);
});

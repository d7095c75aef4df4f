import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { benchOptions, eventFiles, liveOptions } from '../../../bench/events/event-file.ts';
import { generateEvents } from '../../../bench/events/event-generator.ts';

const OPTIONS = { seed: 7, count: 2_500, zones: 20, nowMs: 1_760_000_000_000, spanMs: 3_600_000 };
const EVENTS = Buffer.concat([...generateEvents(OPTIONS)]);

async function readFiles(eventsPerFile: number) {
  const [contents, paths]: [Buffer[], string[]] = [[], []];
  for await (const { path, bytes } of eventFiles(OPTIONS, eventsPerFile)) {
    expect(paths.filter(existsSync)).toEqual([]);
    const content = await readFile(path);
    expect(content.length).toBe(bytes);
    contents.push(content);
    paths.push(path);
  }
  return { contents, paths };
}

test('more events than a file may have come in several, each removed before the next', async () => {
  const { contents, paths } = await readFiles(1_000);
  expect(contents.map((content) => content.toString().split('\n').length - 1)).toEqual([1_000, 1_000, 500]);
  expect(Buffer.concat(contents).equals(EVENTS)).toBe(true);
  expect(paths.filter(existsSync)).toEqual([]);
});

test('as many files as it takes, and none that is empty', async () => {
  expect((await readFiles(1_250)).contents).toHaveLength(2);
});

test('the file of whoever goes no further is removed', async () => {
  const seen: string[] = [];
  for await (const { path } of eventFiles(OPTIONS, 1_000)) {
    expect(existsSync(path)).toBe(true);
    seen.push(path);
    break;
  }
  expect(seen).toHaveLength(1);
  expect(seen.filter(existsSync)).toEqual([]);
});

test('a file with all events stays for the next time', async () => {
  const { contents, paths } = await readFiles(2_500);
  try {
    expect(contents).toHaveLength(1);
    expect(contents[0]?.equals(EVENTS)).toBe(true);
    expect(paths.filter(existsSync)).toEqual(paths);
  } finally {
    await Promise.all(paths.map((path) => rm(path)));
  }
});

test('no event is in two files of live ones, or in what engines are filled with', () => {
  const idsOf = (options: ReturnType<typeof liveOptions>) => [...generateEvents(options)].map((line) => JSON.parse(line.toString()).logId);
  const ids = [benchOptions(500), liveOptions(500), liveOptions(500, 1), liveOptions(500, 2)].flatMap(idsOf);
  expect(new Set(ids).size).toBe(2_000);
});

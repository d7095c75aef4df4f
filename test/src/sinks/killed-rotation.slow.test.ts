import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openFileSink } from '../../../src/sinks/file-sink.ts';
import type { SinkPosition } from '../../../src/sinks/sink.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { expectedIds, idsIn, sampleBatch } from './sample-events.ts';

const SCRIPT = fileURLToPath(new URL('./killed-rotation.ts', import.meta.url));
const FOREVER = new AbortController().signal;

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

/** Lets a process with two events in its file be killed while it renames the file to `old-1.ndjson`. */
async function killed(when: 'before' | 'after'): Promise<void> {
  const feed = spawn(process.execPath, [SCRIPT, folder, when], { stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(feed, 'exit')).toEqual([null, 'SIGKILL']);
  expect(events()).toEqual({ [when === 'before' ? 'events.ndjson' : 'old-1.ndjson']: expectedIds(2) });
}

/** Goes on after the kill with the next events, which are two. */
async function goOn(keep: number | null = null): Promise<SinkPosition> {
  let recorded = JSON.parse(readFileSync(join(folder, 'state'), 'utf8')) as SinkPosition;
  const sink = await openFileSink({
    path: join(folder, 'events.ndjson'),
    rotation: { sizeBytes: null, everyMs: null, pattern: 'old-{n}.ndjson', keep },
    position: recorded,
    record: async (position) => {
      recorded = position;
    },
    now: Date.now,
    tell: () => {},
  });
  onTestFinished(() => sink.close());
  await sink.deliver(sampleBatch(2, 'native', 2), FOREVER);
  return recorded;
}

/** The ids in every file of events. */
function events(): Readonly<Record<string, readonly string[]>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  return Object.fromEntries(names.map((name) => [name, idsIn(readFileSync(join(folder, name), 'utf8'))]));
}

describe('a rotation in which the process is killed', () => {
  test.each(['before', 'after'] as const)('%s the file is renamed leaves every event once', async (when) => {
    await killed(when);
    expect(await goOn()).toMatchObject({ rotated: ['old-1.ndjson'], rotatingTo: null });
    expect(events()).toEqual({ 'old-1.ndjson': expectedIds(2), 'events.ndjson': expectedIds(2, 2) });
  });

  test.each([
    ['before', 'events.ndjson'],
    ['after', 'old-1.ndjson'],
  ] as const)('%s the file is renamed goes on in a new file where somebody removes that file', async (when, name) => {
    await killed(when);
    rmSync(join(folder, name));
    expect(await goOn()).toMatchObject({ rotated: [], rotatingTo: null });
    expect(events()).toEqual({ 'events.ndjson': expectedIds(2, 2) });
  });

  test('after the file is renamed leaves a file that somebody puts in its place where it is', async () => {
    await killed('after');
    // Written before the other is removed, so that it does not get its inode.
    writeFileSync(join(folder, 'events.ndjson'), sampleBatch(1, 'native', 7).bytes);
    rmSync(join(folder, 'old-1.ndjson'));
    expect(await goOn()).toMatchObject({ rotated: [], rotatingTo: null });
    expect(events()).toEqual({ 'events.ndjson': ['e7', ...expectedIds(2, 2)] });
  });

  test('before the file is renamed takes another name where a file of somebody else has that one, which is never removed', async () => {
    await killed('before');
    writeFileSync(join(folder, 'old-1.ndjson'), sampleBatch(1, 'native', 7).bytes);
    expect(await goOn(1)).toMatchObject({ rotated: ['old-2.ndjson'], rotatingTo: null });
    expect(events()).toEqual({ 'old-1.ndjson': ['e7'], 'old-2.ndjson': expectedIds(2), 'events.ndjson': expectedIds(2, 2) });
  });
});

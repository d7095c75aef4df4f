import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_PATTERN, type FileRotation, patternFault } from '../../../src/sinks/file-rotation.ts';
import { openFileSink } from '../../../src/sinks/file-sink.ts';
import type { Sink, SinkPosition } from '../../../src/sinks/sink.ts';
import { NOW } from '../../fixtures/present.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { expectedIds, idsIn, sampleBatch } from './sample-events.ts';

const NEVER: FileRotation = { sizeBytes: null, everyMs: null, pattern: DEFAULT_PATTERN, keep: null };
const HOUR_MS = 3_600_000;
const FOREVER = new AbortController().signal;

let folder: string;
let path: string;
let now: number;
/** What a state file would have. */
let recorded: SinkPosition;
let told: string[];

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'events.ndjson');
  now = NOW;
  recorded = null;
  told = [];
});

async function open(rotation: Partial<FileRotation> = {}, record?: (position: SinkPosition) => void): Promise<Sink> {
  const sink = await openFileSink({
    path,
    rotation: { ...NEVER, ...rotation },
    position: recorded,
    record: async (position) => {
      record?.(position);
      recorded = position;
    },
    now: () => now,
    tell: (message) => told.push(message),
  });
  onTestFinished(() => sink.close());
  return sink;
}

/** Delivers and keeps the position, as the loop does. */
async function deliver(sink: Sink, count: number, first: number): Promise<void> {
  recorded = (await sink.deliver(sampleBatch(count, 'native', first), FOREVER)).position;
}

const idsOf = (name: string): string[] => idsIn(readFileSync(join(folder, name), 'utf8'));

describe('a file', () => {
  test('gets batch after batch, also over a restart', async () => {
    const first = await open();
    await deliver(first, 3, 0);
    await deliver(first, 2, 3);
    await first.close();
    await deliver(await open(), 2, 5);
    expect(idsOf('events.ndjson')).toEqual(expectedIds(7));
    expect(told).toEqual([]);
  });

  test('loses at the next start what a batch left that was not through, a torn line included', async () => {
    const sink = await open();
    await deliver(sink, 3, 0);
    await sink.deliver(sampleBatch(2, 'native', 3), FOREVER);
    await sink.close();
    truncateSync(path, statSync(path).size - 20);
    await open();
    expect(idsOf('events.ndjson')).toEqual(expectedIds(3));
    expect(told).toEqual([expect.stringMatching(/cut off \d+ bytes/)]);
  });

  test('has a batch once that was written but whose position was never kept', async () => {
    const sink = await open();
    await deliver(sink, 2, 0);
    await sink.deliver(sampleBatch(2, 'native', 2), FOREVER);
    await sink.close();
    await deliver(await open(), 2, 2);
    expect(idsOf('events.ndjson')).toEqual(expectedIds(4));
  });

  test('has the first batch once too, where there was no state before it', async () => {
    const sink = await open();
    await sink.deliver(sampleBatch(2), FOREVER);
    await sink.close();
    await deliver(await open(), 2, 0);
    expect(idsOf('events.ndjson')).toEqual(expectedIds(2));
  });

  test('whose start cannot be recorded is opened by a later start', async () => {
    const failing = open({}, () => {
      throw new Error('no space left on device');
    });
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('no space left on device') });
    await deliver(await open(), 2, 0);
    expect(idsOf('events.ndjson')).toEqual(expectedIds(2));
  });

  test('that was there before keeps what it has', async () => {
    writeFileSync(path, sampleBatch(2).bytes);
    await deliver(await open(), 1, 2);
    expect(idsOf('events.ndjson')).toEqual(expectedIds(3));
  });

  test('of others that ends in the middle of a line is refused', async () => {
    writeFileSync(path, '{"half');
    await expect(open()).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('ends in the middle of a line') });
    expect(readFileSync(path, 'utf8')).toBe('{"half');
  });

  test.each([
    ['is a folder', () => mkdirSync(path)],
    [
      'lies in no folder',
      () => {
        path = join(folder, 'nowhere', 'events.ndjson');
      },
    ],
  ])('that %s is refused', async (_what, prepare) => {
    prepare();
    await expect(open()).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining(path) });
  });

  test('that somebody moved away goes on in a new one, at once and after a restart', async () => {
    const sink = await open();
    await deliver(sink, 2, 0);
    renameSync(path, join(folder, 'moved-1'));
    await deliver(sink, 2, 2);
    await sink.close();
    renameSync(path, join(folder, 'moved-2'));
    await deliver(await open(), 2, 4);
    expect([idsOf('moved-1'), idsOf('moved-2'), idsOf('events.ndjson')]).toEqual([
      ['e0', 'e1'],
      ['e2', 'e3'],
      ['e4', 'e5'],
    ]);
  });

  test('that somebody emptied goes on at its beginning, without a hole', async () => {
    const sink = await open();
    await deliver(sink, 2, 0);
    truncateSync(path);
    await deliver(sink, 1, 2);
    expect(idsOf('events.ndjson')).toEqual(['e2']);
    expect(told).toEqual([expect.stringContaining('was shortened')]);
  });
});

describe('a rotation', () => {
  test('by size sets the file aside before it gets longer; a batch is never divided', async () => {
    const sink = await open({ sizeBytes: sampleBatch(5).bytes.length });
    for (const first of [0, 2, 4]) await deliver(sink, 2, first);
    await deliver(sink, 9, 6);
    await deliver(sink, 1, 15);
    const aside = (number: number): string => `events-20260512T153000Z-${number}.ndjson`;
    expect(readdirSync(folder).sort()).toEqual([aside(1), aside(2), aside(3), 'events.ndjson']);
    expect([1, 2, 3].map((number) => idsOf(aside(number)).length)).toEqual([4, 2, 9]);
    expect(idsOf('events.ndjson')).toEqual(['e15']);
  });

  test('by time sets the file aside when the hour of its beginning is over, also over a restart', async () => {
    const first = await open({ everyMs: HOUR_MS });
    await deliver(first, 1, 0);
    now += HOUR_MS / 2 - 1;
    await deliver(first, 1, 1);
    await first.close();
    now += 1;
    const second = await open({ everyMs: HOUR_MS });
    expect(idsOf('events.ndjson')).toEqual(['e0', 'e1']);
    await deliver(second, 1, 2);
    expect(idsOf('events-20260512T160000Z-1.ndjson')).toEqual(['e0', 'e1']);
    expect(idsOf('events.ndjson')).toEqual(['e2']);
  });

  test('keeps so many files of its own, and touches no other', async () => {
    writeFileSync(join(folder, 'events-20200101T000000Z-1.ndjson'), 'of somebody else\n');
    for (let index = 0; index < 5; index += 1) {
      const sink = await open({ sizeBytes: 1, keep: 2 });
      await deliver(sink, 1, index);
      await sink.close();
      now += 1_000;
    }
    expect(readdirSync(folder).sort()).toEqual([
      'events-20200101T000000Z-1.ndjson',
      'events-20260512T153003Z-1.ndjson',
      'events-20260512T153004Z-1.ndjson',
      'events.ndjson',
    ]);
  });

  test('names files by its pattern', async () => {
    const sink = await open({ sizeBytes: 1, pattern: 'old.{n}.{stem}{ext}' });
    for (const first of [0, 1, 2]) await deliver(sink, 1, first);
    expect(readdirSync(folder).sort()).toEqual(['events.ndjson', 'old.1.events.ndjson', 'old.2.events.ndjson']);
  });

  test.each([
    ['{stem}', 'does not have {n}, without which two files could get one name'],
    ['{n}{what}', 'has {what}'],
    ['a/{n}', 'has a slash'],
    ['{n}', null],
  ])('with the pattern %s: %s', (pattern, fault) => {
    expect(patternFault(pattern)).toBe(fault);
  });

  // The moments at which a position is kept, and with it those between which a process can die: each is tried.
  test.each([1, 2, 3])('that is cut short at its step %i leaves every event once', async (step) => {
    const first = await open();
    await deliver(first, 2, 0);
    await first.close();
    let steps = 0;
    const dying = await open({ sizeBytes: 1 }, () => {
      steps += 1;
      // The first is that of the start.
      if (steps > step) throw new Error('no space left on device');
    });
    await expect(dying.deliver(sampleBatch(2, 'native', 2), FOREVER)).rejects.toMatchObject({ code: 'unavailable' });
    await dying.close();
    await deliver(await open({ sizeBytes: 1 }), 2, 2);
    const files = readdirSync(folder).sort();
    expect(files.flatMap(idsOf)).toEqual(expectedIds(4));
  });

  test('that was recorded but not done is done at the next start, and not twice', async () => {
    const first = await open();
    await deliver(first, 2, 0);
    await first.close();
    const rotating = { ...recorded, rotatingTo: 'aside.ndjson' };
    recorded = rotating;
    await (await open()).close();
    expect([idsOf('aside.ndjson'), idsOf('events.ndjson')]).toEqual([['e0', 'e1'], []]);
    recorded = rotating;
    await deliver(await open(), 1, 2);
    expect([idsOf('aside.ndjson'), idsOf('events.ndjson')]).toEqual([['e0', 'e1'], ['e2']]);
    expect(readdirSync(folder).sort()).toEqual(['aside.ndjson', 'events.ndjson']);
  });

  test('that fails is tried again by the same sink', async () => {
    const first = await open();
    await deliver(first, 2, 0);
    await first.close();
    let failures = 0;
    const sink = await open({ sizeBytes: 1 }, () => {
      failures += 1;
      if (failures === 2 || failures === 4) throw new Error('no space left on device');
    });
    await expect(sink.deliver(sampleBatch(1, 'native', 2), FOREVER)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(sink.deliver(sampleBatch(1, 'native', 2), FOREVER)).rejects.toMatchObject({ code: 'unavailable' });
    await deliver(sink, 1, 2);
    expect(readdirSync(folder).sort().flatMap(idsOf)).toEqual(expectedIds(3));
  });
});

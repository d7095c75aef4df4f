import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_PATTERN } from '../../../src/sinks/file-rotation.ts';
import { openFileSink } from '../../../src/sinks/file-sink.ts';
import type { Sink, SinkPosition } from '../../../src/sinks/sink.ts';
import { NOW } from '../../fixtures/present.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { expectedIds, idsIn, sampleBatch } from './sample-events.ts';

const FOREVER = new AbortController().signal;
const REFUSED = { code: 'refused', message: expect.stringContaining('a file of its own') };

/** What a state file would have. */
interface Recorded {
  position: SinkPosition;
}

async function open(path: string, recorded: Recorded): Promise<Sink> {
  const sink = await openFileSink({
    path,
    rotation: { sizeBytes: null, everyMs: null, pattern: DEFAULT_PATTERN, keep: null },
    position: recorded.position,
    record: async (position) => {
      recorded.position = position;
    },
    now: () => NOW,
    tell: () => {},
  });
  onTestFinished(() => sink.close());
  return sink;
}

async function deliver(sink: Sink, recorded: Recorded, count: number, first: number): Promise<void> {
  recorded.position = (await sink.deliver(sampleBatch(count, 'native', first), FOREVER)).position;
}

const newPath = (): string => join(temporaryFolder(), 'events.ndjson');
const idsOf = (path: string): string[] => idsIn(readFileSync(path, 'utf8'));

test('a file that another feed has written to is refused and left as it is, at once and after a restart', async () => {
  const [path, recorded] = [newPath(), { position: null }];
  const sink = await open(path, recorded);
  await deliver(sink, recorded, 2, 0);
  appendFileSync(path, sampleBatch(2, 'native', 2).bytes);
  await expect(sink.deliver(sampleBatch(2, 'native', 4), FOREVER)).rejects.toMatchObject(REFUSED);
  await sink.close();
  await expect(open(path, recorded)).rejects.toMatchObject(REFUSED);
  expect(idsOf(path)).toEqual(expectedIds(4));
});

test('so is one where that happened after a batch whose position was never kept', async () => {
  const [path, recorded] = [newPath(), { position: null }];
  const sink = await open(path, recorded);
  await sink.deliver(sampleBatch(2), FOREVER);
  await sink.close();
  appendFileSync(path, sampleBatch(2, 'native', 2).bytes);
  await expect(open(path, recorded)).rejects.toMatchObject(REFUSED);
  expect(idsOf(path)).toEqual(expectedIds(4));
});

test('of two feeds that write to one file at once nothing is lost, and the one that comes second is told', async () => {
  const path = newPath();
  const [one, other] = [await open(path, { position: null }), await open(path, { position: null })];
  await one.deliver(sampleBatch(2), FOREVER);
  await expect(other.deliver(sampleBatch(2, 'native', 2), FOREVER)).rejects.toMatchObject(REFUSED);
  expect(idsOf(path)).toEqual(expectedIds(2));
});

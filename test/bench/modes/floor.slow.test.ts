import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEngine } from '../../../bench/engines/engine-client.ts';
import { benchOptions, eventFile } from '../../../bench/events/event-file.ts';
import { measureFloor } from '../../../bench/modes/floor.ts';
import { QUESTIONS } from '../../../bench/modes/questions.ts';
import { loadWorkloads } from '../../../bench/modes/workload.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

test('statements by hand answer all searches and first looks of the race as the program does, and both are timed', async () => {
  const dataDir = temporaryFolder();
  const { path: file } = await eventFile(benchOptions(20_000), join(temporaryFolder(), 'events.ndjson'));
  const options = { dataDir, memoryLimitMb: 512 };
  await withEngine('shieldlog', options, async (engine) => {
    await engine.ingest({ file, eventsPerSecond: null });
    await engine.settle();
  });
  const [workloads, questions] = [await loadWorkloads(), QUESTIONS];
  const { rows, differences } = await measureFloor({ ...options, workloads, questions, runs: 1, onStep: () => undefined });
  expect(differences).toEqual([]);
  expect(rows.map(({ name }) => name)).toEqual([...workloads, ...questions].map(({ name }) => name));
  expect(rows.every(({ oursMs, floorMs }) => oursMs.length === 1 && floorMs.length === 1)).toBe(true);
  expect(rows.filter(({ total }) => total > 0).length).toBeGreaterThan(15);
});

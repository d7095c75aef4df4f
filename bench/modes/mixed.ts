import { setTimeout as delay } from 'node:timers/promises';
import type { EngineName } from '../engines/engine.ts';
import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { DASHBOARD, startBackgroundSearches } from '../engines/timed-searches.ts';
import { readThrough } from '../events/file-chunks.ts';
import type { MixedFigures } from '../report/race-result.ts';

export interface MixedOrder {
  readonly dataDir: string;
  /** Events in the folder before. */
  readonly storedEvents: number;
  /** The file that each turn takes in. */
  readonly files: readonly string[];
  readonly eventsPerFile: number;
  /** Null: at full speed. */
  readonly eventsPerSecond: number | null;
  /** Milliseconds of searches without intake before each turn. */
  readonly aloneForMs: number;
  readonly memoryLimitMb: number;
}

/**
 * Searches as a dashboard does, one every 100 ms, alone and while a file is taken in. The two take turns, so that disturbances of the
 * machine affect both. Everything is merged between turns, which does not count, so that both search the same events except for those that
 * are coming in.
 */
export async function measureMixed(name: EngineName, order: MixedOrder): Promise<MixedFigures> {
  const { dataDir, storedEvents, files, eventsPerFile, eventsPerSecond, aloneForMs, memoryLimitMb } = order;
  const turns: MixedFigures['turns'][number][] = [];
  return await withEngine(name, { dataDir, memoryLimitMb }, async (engine) => {
    for (const search of DASHBOARD) {
      // The first searches of a process cost more and do not count.
      await engine.search({ ...search, withAnswer: false });
    }
    for (const [turn, file] of files.entries()) {
      if (turn > 0) {
        await engine.settle();
      }
      await readThrough(file);
      const alone = aloneForMs === 0 ? [] : (await searchesDuring(engine, () => delay(aloneForMs))).searchMs;
      const beside = await searchesDuring(engine, () => engine.ingest({ file, eventsPerSecond }));
      turns.push({ aloneMs: alone, eventsPerSecond: eventsPerFile / (beside.result.elapsedMs / 1000), besideMs: beside.searchMs });
    }
    const peakMemoryBytes = await engine.peakMemoryBytes();
    return { storedEvents, wantedEventsPerSecond: eventsPerSecond, turns, peakMemoryBytes };
  });
}

/** Runs the searches of a dashboard during `work` and resolves with their milliseconds. They also end if `work` fails. */
async function searchesDuring<T>(
  engine: EngineClient,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly searchMs: readonly number[] }> {
  const background = startBackgroundSearches((search) => engine.search({ ...search, withAnswer: false }));
  try {
    const result = await work();
    return { result, searchMs: await background.stop() };
  } catch (error) {
    await background.stop();
    throw error;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { DASHBOARD, startBackgroundSearches } from '../engines/background-search.ts';
import type { EngineName } from '../engines/engine.ts';
import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { readThrough } from '../events/file-chunks.ts';
import type { MixedFigures } from '../report/race-result.ts';

export interface MixedOrder {
  readonly dataDir: string;
  /** In the folder already. */
  readonly storedEvents: number;
  /** What is taken in: a file for each turn. */
  readonly files: readonly string[];
  readonly eventsPerFile: number;
  /** Null: as fast as they are taken. */
  readonly eventsPerSecond: number | null;
  /** For how long there are searches only, before each turn. 0: not at all. */
  readonly aloneForMs: number;
  readonly memoryLimitMb: number;
}

/**
 * Searches as a dashboard does, one every 100 ms, alone and while a file is taken in, in turns: what disturbs the machine for a while
 * disturbs both. Between turns everything is merged, which does not count, so that both have the same events to search but for those that
 * are just coming in.
 */
export async function measureMixed(name: EngineName, order: MixedOrder): Promise<MixedFigures> {
  const { dataDir, storedEvents, files, eventsPerFile, eventsPerSecond, aloneForMs, memoryLimitMb } = order;
  const turns: MixedFigures['turns'][number][] = [];
  return await withEngine(name, { dataDir, memoryLimitMb }, async (engine) => {
    for (const search of DASHBOARD) {
      // What the first search of a process costs is not to be taken for what searches cost.
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

/** The milliseconds of a dashboard's searches while something else goes on. Whatever becomes of that, the searches end before this does. */
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

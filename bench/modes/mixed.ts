import { setTimeout as delay } from 'node:timers/promises';
import { type BackgroundSearches, startBackgroundSearches } from '../background-search.ts';
import type { EngineName } from '../engines/engine.ts';
import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { readThrough } from '../file-chunks.ts';
import type { MixedFigures } from '../race-result.ts';

export interface MixedOrder {
  readonly dataDir: string;
  /** In the folder already. */
  readonly storedEvents: number;
  /** What is taken in. */
  readonly file: string;
  readonly events: number;
  /** Null: as fast as they are taken. */
  readonly eventsPerSecond: number | null;
  readonly memoryLimitMb: number;
}

function startDashboard(engine: EngineClient): BackgroundSearches {
  return startBackgroundSearches((search) => engine.search({ ...search, withAnswer: false }));
}

/** Searches as a dashboard does, one every 100 ms, while a file is taken in. */
export async function measureMixed(name: EngineName, order: MixedOrder): Promise<MixedFigures> {
  const { dataDir, storedEvents, file, events, eventsPerSecond, memoryLimitMb } = order;
  await readThrough(file);
  return await withEngine(name, { dataDir, memoryLimitMb }, async (engine) => {
    const background = startDashboard(engine);
    // Whatever becomes of the intake, the searches end before the engine is closed.
    const [elapsedMs, searchMs] = await engine.ingest({ file, eventsPerSecond }).then(
      async (elapsed) => [elapsed, await background.stop()] as const,
      async (error: unknown) => {
        await background.stop();
        throw error;
      },
    );
    const peakMemoryBytes = await engine.peakMemoryBytes();
    return {
      storedEvents,
      wantedEventsPerSecond: eventsPerSecond,
      eventsPerSecond: events / (elapsedMs / 1000),
      searchMs,
      peakMemoryBytes,
    };
  });
}

/** The same searches with nothing else going on. In milliseconds. */
export async function measureIdle(name: EngineName, dataDir: string, memoryLimitMb: number, forMs: number): Promise<readonly number[]> {
  return await withEngine(name, { dataDir, memoryLimitMb }, async (engine) => {
    const background = startDashboard(engine);
    await delay(forMs);
    return await background.stop();
  });
}

import { rm } from 'node:fs/promises';
import { emptyDataDir } from '../data-dir.ts';
import type { EngineName } from '../engines/engine.ts';
import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { readThrough } from '../file-chunks.ts';
import type { IntakeFigures } from '../race-result.ts';

export interface FilledEngine {
  readonly dataDir: string;
  readonly intake: IntakeFigures;
}

/** Takes the file in, several times over into folders of their own, each time after it was read once; the last of them stays, with everything merged. */
export async function measureIntake(name: EngineName, file: string, runs: number, memoryLimitMb: number): Promise<FilledEngine> {
  const measured: IntakeFigures['runs'][number][] = [];
  for (;;) {
    const dataDir = await emptyDataDir(name);
    await readThrough(file);
    const fill = async (engine: EngineClient) => {
      const elapsedMs = await engine.ingest({ file, eventsPerSecond: null });
      const peakMemoryBytes = await engine.peakMemoryBytes();
      measured.push({ elapsedMs, settleMs: await engine.settle(), peakMemoryBytes });
      return await engine.diskBytes();
    };
    const diskBytes = await withEngine(name, { dataDir, memoryLimitMb }, fill).catch(async (error: unknown) => {
      await rm(dataDir, { recursive: true });
      throw error;
    });
    if (measured.length === runs) {
      return { dataDir, intake: { runs: measured, diskBytes } };
    }
    await rm(dataDir, { recursive: true });
  }
}

import { rm } from 'node:fs/promises';
import type { EngineName } from '../engines/engine.ts';
import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { type EventFile, emptyDataDir } from '../events/event-file.ts';
import { readThrough } from '../events/file-chunks.ts';
import type { IntakeFigures, TakenFiles } from '../report/race-result.ts';

export interface FilledEngine {
  readonly dataDir: string;
  readonly files: TakenFiles;
  readonly intake: IntakeFigures;
}

export interface IntakeOrder {
  /** The files that a run takes in, one after the other. Called for each run. */
  readonly files: () => AsyncIterable<EventFile>;
  readonly runs: number;
  readonly memoryLimitMb: number;
}

/**
 * Takes the files in several times, each time into a new folder. Each file is read once before. Making and reading a file does not count.
 * The folder of the last run is kept, with everything merged.
 */
export async function measureIntake(name: EngineName, { files, runs, memoryLimitMb }: IntakeOrder): Promise<FilledEngine> {
  const measured: IntakeFigures['runs'][number][] = [];
  for (;;) {
    const dataDir = await emptyDataDir(name);
    let taken: TakenFiles = { count: 0, bytes: 0 };
    const fill = async (engine: EngineClient) => {
      let elapsedMs = 0;
      let cpuMs = 0;
      for await (const { path, bytes } of files()) {
        await readThrough(path);
        const timed = await engine.ingest({ file: path, eventsPerSecond: null });
        elapsedMs += timed.elapsedMs;
        cpuMs += timed.cpuMs;
        taken = { count: taken.count + 1, bytes: taken.bytes + bytes };
      }
      const peakMemoryBytes = await engine.peakMemoryBytes();
      measured.push({ elapsedMs, settleMs: await engine.settle(), cpuMs, peakMemoryBytes });
      return await engine.diskBytes();
    };
    const diskBytes = await withEngine(name, { dataDir, memoryLimitMb }, fill).catch(async (error: unknown) => {
      await rm(dataDir, { recursive: true });
      throw error;
    });
    if (measured.length === runs) {
      return { dataDir, files: taken, intake: { runs: measured, diskBytes } };
    }
    await rm(dataDir, { recursive: true });
  }
}

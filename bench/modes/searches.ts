import type { EngineName } from '../engines/engine.ts';
import { EngineClient, withEngine } from '../engines/engine-client.ts';
import type { ByEngine, WorkloadFigures } from '../race-result.ts';
import type { Workload } from '../workload.ts';
import { compareAnswers } from './answers.ts';

/** The one engine that can remember anything. */
const REMEMBERING: EngineName = 'shieldlog';

export interface SearchRace {
  /** Folders that hold the same events, by engine. */
  readonly dataDirs: ReadonlyMap<EngineName, string>;
  readonly workloads: readonly Workload[];
  readonly hotRuns: number;
  readonly coldRuns: number;
  readonly memoryLimitMb: number;
  readonly onStep: (what: string) => void;
}

export interface SearchRaceFigures {
  readonly workloads: readonly WorkloadFigures[];
  readonly peakMemoryBytes: ByEngine<number>;
  readonly differences: readonly string[];
}

/** Compares the answers of all engines to every workload, then times them: the engines take turns, so that what disturbs the machine disturbs all. */
export async function raceSearches(race: SearchRace): Promise<SearchRaceFigures> {
  const engines = await openAll(race);
  const figures: WorkloadFigures[] = [];
  const differences: string[] = [];
  try {
    for (const workload of race.workloads) {
      race.onStep(workload.title);
      const compared = await compareAnswers(engines, workload);
      differences.push(...compared.differences);
      const hot = await timeHot(engines, workload, race.hotRuns);
      figures.push({ name: workload.name, title: workload.title, total: compared.total, engines: hot });
    }
    const peaks = await Promise.all(engines.map(async (engine) => [engine.name, await engine.peakMemoryBytes()] as const));
    return { workloads: figures, peakMemoryBytes: Object.fromEntries(peaks), differences };
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

function openAll({ dataDirs, memoryLimitMb }: SearchRace): Promise<EngineClient[]> {
  return Promise.all([...dataDirs].map(([name, dataDir]) => EngineClient.open(name, { dataDir, memoryLimitMb })));
}

async function timeHot(engines: readonly EngineClient[], { zone, body }: Workload, runs: number): Promise<WorkloadFigures['engines']> {
  const times = new Map(engines.map(({ name }) => [name, [] as number[]]));
  for (let run = 0; run < runs; run += 1) {
    for (const engine of engines) {
      const { elapsedMs } = await engine.search({ zone, body, withAnswer: false });
      times.get(engine.name)?.push(elapsedMs);
    }
  }
  return Object.fromEntries([...times].map(([name, hotMs]) => [name, { hotMs, coldMs: [], rememberedMs: [] }]));
}

/** What remembering is worth: the same searches of an engine that does, after each was made once. */
export async function timeRemembered(race: SearchRace, figures: readonly WorkloadFigures[]): Promise<WorkloadFigures[]> {
  const dataDir = race.dataDirs.get(REMEMBERING);
  if (dataDir === undefined || race.hotRuns === 0) {
    return [...figures];
  }
  return await withEngine(REMEMBERING, { dataDir, memoryLimitMb: race.memoryLimitMb, remembers: true }, async (engine) => {
    const timed: WorkloadFigures[] = [];
    for (const figure of figures) {
      const { zone, body } = race.workloads.find(({ name }) => name === figure.name) as Workload;
      const rememberedMs: number[] = [];
      for (let run = 0; run <= race.hotRuns; run += 1) {
        rememberedMs.push((await engine.search({ zone, body, withAnswer: false })).elapsedMs);
      }
      const engines = {
        ...figure.engines,
        [REMEMBERING]: { hotMs: [], coldMs: [], ...figure.engines[REMEMBERING], rememberedMs: rememberedMs.slice(1) },
      };
      timed.push({ ...figure, engines });
    }
    return timed;
  });
}

/** The first search of a process that has just opened its data. (The operating system may still have the files in memory.) */
export async function timeCold(race: SearchRace, figures: readonly WorkloadFigures[]): Promise<WorkloadFigures[]> {
  const timed: WorkloadFigures[] = [];
  for (const figure of figures) {
    const workload = race.workloads.find(({ name }) => name === figure.name) as Workload;
    race.onStep(`cold: ${workload.title}`);
    const engines = { ...figure.engines };
    for (const [name, dataDir] of race.dataDirs) {
      const coldMs: number[] = [];
      for (let run = 0; run < race.coldRuns; run += 1) {
        const options = { dataDir, memoryLimitMb: race.memoryLimitMb };
        const order = { zone: workload.zone, body: workload.body, withAnswer: false };
        coldMs.push((await withEngine(name, options, (engine) => engine.search(order))).elapsedMs);
      }
      engines[name] = { hotMs: [], rememberedMs: [], ...engines[name], coldMs };
    }
    timed.push({ ...figure, engines });
  }
  return timed;
}

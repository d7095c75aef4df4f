import type { EngineName, EngineOptions } from '../engines/engine.ts';
import { EngineClient, withEngine } from '../engines/engine-client.ts';
import type { ByEngine, SearchFigures, WorkloadFigures } from '../report/race-result.ts';
import { compareAnswers, type Workload } from './workload.ts';

/** The only engine with a cache of results. */
const REMEMBERING: EngineName = 'shieldlog';

const NOT_TIMED: SearchFigures = { hotMs: [], coldMs: [], rememberedMs: [] };

export interface SearchRace {
  /** Folders with the same events, by engine. */
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

/**
 * Compares the answers of all engines to every workload, then measures their times. The engines take turns, so that disturbances of the
 * machine affect all.
 */
export async function raceSearches(race: SearchRace): Promise<SearchRaceFigures> {
  const { dataDirs, memoryLimitMb, workloads, hotRuns, onStep } = race;
  return await withAll({ dataDirs, memoryLimitMb }, async (engines) => {
    const figures: WorkloadFigures[] = [];
    const differences: string[] = [];
    for (const workload of workloads) {
      onStep(workload.title);
      const compared = await compareAnswers(engines, workload);
      differences.push(...compared.differences);
      const hot = await timeHot(engines, workload, hotRuns);
      figures.push({ name: workload.name, title: workload.title, total: compared.total, engines: hot });
    }
    const peaks = await Promise.all(engines.map(async (engine) => [engine.name, await engine.peakMemoryBytes()] as const));
    return { workloads: figures, peakMemoryBytes: Object.fromEntries(peaks), differences };
  });
}

type OpenOptions = Pick<SearchRace, 'dataDirs' | 'memoryLimitMb'> & Pick<EngineOptions, 'remembers'>;

/** Opens all engines, each on its own data, runs `work` with them and closes them, also after an error. */
export async function withAll<T>(
  { dataDirs, ...options }: OpenOptions,
  work: (engines: readonly EngineClient[]) => Promise<T>,
): Promise<T> {
  const engines = await Promise.all([...dataDirs].map(([name, dataDir]) => EngineClient.open(name, { ...options, dataDir })));
  try {
    return await work(engines);
  } finally {
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

async function timeHot(engines: readonly EngineClient[], workload: Workload, runs: number): Promise<WorkloadFigures['engines']> {
  const times = await timeInTurns(engines, workload, runs);
  return Object.fromEntries([...times].map(([name, hotMs]) => [name, { ...NOT_TIMED, hotMs }]));
}

/** Times the same searches with the cache of results, after one run of each to fill it, in turns with the other engines. */
export async function timeRemembered(race: SearchRace, figures: readonly WorkloadFigures[]): Promise<WorkloadFigures[]> {
  const { dataDirs, memoryLimitMb, workloads, hotRuns } = race;
  if (!dataDirs.has(REMEMBERING) || hotRuns === 0) {
    return [...figures];
  }
  return await withAll({ dataDirs, memoryLimitMb, remembers: true }, async (engines) => {
    const timed: WorkloadFigures[] = [];
    for (const figure of figures) {
      const workload = workloads.find(({ name }) => name === figure.name) as Workload;
      const times = await timeInTurns(engines, workload, hotRuns + 1);
      const withTimes = [...times].map(([name, [, ...rememberedMs]]) => [name, { ...NOT_TIMED, ...figure.engines[name], rememberedMs }]);
      timed.push({ ...figure, engines: Object.fromEntries(withTimes) });
    }
    return timed;
  });
}

/** The milliseconds of each run, by engine. Work that an engine does after an answer does not count. */
async function timeInTurns(
  engines: readonly EngineClient[],
  { zone, body }: Workload,
  runs: number,
): Promise<Map<EngineName, readonly number[]>> {
  const times = new Map(engines.map(({ name }) => [name, [] as number[]]));
  for (let run = 0; run < runs; run += 1) {
    for (const engine of engines) {
      const { elapsedMs } = await engine.search({ zone, body, withAnswer: false });
      times.get(engine.name)?.push(elapsedMs);
    }
  }
  return times;
}

/** Times the first search of a process that has just opened its data. The operating system may still have the files in memory. */
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
      engines[name] = { ...NOT_TIMED, ...engines[name], coldMs };
    }
    timed.push({ ...figure, engines });
  }
  return timed;
}

import { rm } from 'node:fs/promises';
import type { EngineName } from './engines/engine.ts';
import { benchOptions, eventFile, eventFiles, inEmptyDataDir, liveOptions } from './events/event-file.ts';
import { measureConcurrency } from './modes/concurrency.ts';
import { raceQuestions } from './modes/explore.ts';
import { measureFloor } from './modes/floor.ts';
import { measureIntake } from './modes/intake.ts';
import { measureMixed } from './modes/mixed.ts';
import type { Question } from './modes/questions.ts';
import { raceSearches, timeCold, timeRemembered } from './modes/searches.ts';
import type { Workload } from './modes/workload.ts';
import {
  type ConcurrencyFigures,
  type MixedFigures,
  OURS,
  type RaceResult,
  type SizeFigures,
  type TakenFiles,
} from './report/race-result.ts';

export const MODES = ['intake', 'hot', 'floor', 'cold', 'explore', 'mixed', 'concurrency'] as const;

export type Mode = (typeof MODES)[number];

export interface RaceOrder {
  readonly engines: readonly EngineName[];
  readonly modes: readonly Mode[];
  /** Numbers of events, ascending. All modes run on the last one; the others show how times grow. */
  readonly sizes: readonly number[];
  /** Larger sizes are taken in from several files. */
  readonly eventsPerFile: number;
  readonly workloads: readonly Workload[];
  readonly questions: readonly Question[];
  readonly intakeRuns: number;
  readonly hotRuns: number;
  readonly coldRuns: number;
  readonly memoryLimitMb: number;
  /** Seconds of each measurement with searches alone, during the intake and over HTTP. */
  readonly seconds: number;
  /** Turns of searches alone and during the intake. */
  readonly turns: number;
  readonly clients: readonly number[];
  /** The pace of the intake during searches. */
  readonly eventsPerSecond: number;
  readonly onStep: (what: string) => void;
}

type DataDirs = ReadonlyMap<EngineName, string>;

/** The number of calls of `onStep`. */
export function stepsOf({ engines, modes, sizes, eventsPerFile, workloads, questions }: Omit<RaceOrder, 'onStep'>): number {
  const generated = sizes.filter((events) => events <= eventsPerFile).length;
  const cold = modes.includes('cold') ? workloads.length : 0;
  const explore = modes.includes('explore') ? questions.length : 0;
  const floor = hasFloor({ engines, modes }) ? workloads.length + questions.length : 0;
  const bySize = engines.length + workloads.length + floor;
  const together = (modes.includes('concurrency') ? 1 : 0) + (modes.includes('mixed') ? 2 : 0);
  return generated + sizes.length * bySize + cold + explore + together * engines.length;
}

/** The floor is that of our engine: what its searches cost at least. */
function hasFloor({ engines, modes }: Pick<RaceOrder, 'engines' | 'modes'>): boolean {
  return modes.includes('floor') && engines.includes(OURS);
}

/** Runs the race. It removes everything that it writes except the generated files. */
export async function runRace(order: RaceOrder): Promise<Omit<RaceResult, 'circumstances'>> {
  const sizes: SizeFigures[] = [];
  const differences: string[] = [];
  for (const [index, events] of order.sizes.entries()) {
    const isLast = index === order.sizes.length - 1;
    const dataDirs = new Map<EngineName, string>();
    try {
      const size = await measureSize(order, events, isLast, dataDirs);
      sizes.push(size.figures);
      differences.push(...size.differences);
      if (isLast) {
        // Before events are added to the folders.
        const { questions, differences: others } = await measureQuestions(order, dataDirs);
        differences.push(...others);
        return { sizes, questions, differences, ...(await measureTogether(order, events, dataDirs)) };
      }
    } finally {
      await Promise.all([...dataDirs.values()].map((folder) => rm(folder, { recursive: true, force: true })));
    }
  }
  throw new RangeError('a race needs a number of events');
}

/** Measures one size and adds the folders of the engines to `dataDirs`. */
async function measureSize(order: RaceOrder, events: number, isLast: boolean, dataDirs: Map<EngineName, string>) {
  const { workloads, eventsPerFile, hotRuns, coldRuns, memoryLimitMb, onStep } = order;
  const options = benchOptions(events);
  if (events <= eventsPerFile) {
    onStep(`generating ${events} events, unless they are there`);
    await eventFile(options);
  }
  const intake: Record<string, SizeFigures['intake'][EngineName]> = {};
  let files: TakenFiles = { count: 0, bytes: 0 };
  for (const name of order.engines) {
    onStep(`intake of ${events} events: ${name}`);
    const runs = isLast && order.modes.includes('intake') ? order.intakeRuns : 1;
    const filled = await measureIntake(name, { files: () => eventFiles(options, eventsPerFile), runs, memoryLimitMb });
    dataDirs.set(name, filled.dataDir);
    intake[name] = filled.intake;
    files = filled.files;
  }
  const race = { dataDirs, workloads, hotRuns: order.modes.includes('hot') ? hotRuns : 0, coldRuns, memoryLimitMb, onStep };
  const searches = await raceSearches(race);
  const workloadsTimed = await timeRemembered(race, searches.workloads);
  const dataDir = hasFloor(order) ? dataDirs.get(OURS) : undefined;
  const floor =
    dataDir === undefined
      ? { rows: [], differences: [] }
      : await measureFloor({ dataDir, workloads, questions: order.questions, runs: hotRuns, memoryLimitMb, onStep });
  const figures: SizeFigures = {
    events,
    files,
    intake,
    searchPeakMemoryBytes: searches.peakMemoryBytes,
    floor: floor.rows,
    workloads: isLast && order.modes.includes('cold') ? await timeCold(race, workloadsTimed) : workloadsTimed,
  };
  return { figures, differences: [...searches.differences, ...floor.differences] };
}

/** Measures questions of the explorer, if they are asked for. */
async function measureQuestions({ modes, questions, hotRuns: runs, memoryLimitMb, onStep }: RaceOrder, dataDirs: DataDirs) {
  return await raceQuestions({ dataDirs, questions: modes.includes('explore') ? questions : [], runs, memoryLimitMb, onStep });
}

/** Measures searches by several clients over HTTP, and searches during an intake. */
async function measureTogether(order: RaceOrder, storedEvents: number, dataDirs: DataDirs) {
  const concurrency: Record<string, ConcurrencyFigures[]> = {};
  const mixed: Record<string, MixedFigures[]> = {};
  const { workloads, clients, seconds, turns, memoryLimitMb, eventsPerSecond } = order;
  for (const [name, dataDir] of order.modes.includes('concurrency') ? dataDirs : []) {
    order.onStep(`over HTTP: ${name}`);
    concurrency[name] = await measureConcurrency(name, { dataDir, workloads, clients, seconds, memoryLimitMb });
  }
  for (const [name, dataDir] of order.modes.includes('mixed') ? dataDirs : []) {
    order.onStep(`searches, alone and while ${eventsPerSecond} events/s come in: ${name}`);
    const eventsPerFile = eventsPerSecond * seconds;
    const files = await liveFiles(eventsPerFile, turns);
    const live = { dataDir, storedEvents, files, eventsPerFile, eventsPerSecond, aloneForMs: seconds * 1000, memoryLimitMb };
    const paced = await measureMixed(name, live);
    order.onStep(`searches while events come in at full speed: ${name}`);
    mixed[name] = [paced, await measureFullSpeed(name, order)];
  }
  return { concurrency, mixed };
}

/** The paths of the files of live events. No event is in two of them. */
async function liveFiles(eventsPerFile: number, count: number): Promise<string[]> {
  const paths: string[] = [];
  for (let file = 0; file < count; file += 1) {
    paths.push((await eventFile(liveOptions(eventsPerFile, file))).path);
  }
  return paths;
}

/** Measures searches during an intake at full speed into an empty folder. */
async function measureFullSpeed(name: EngineName, { sizes, eventsPerFile, memoryLimitMb }: RaceOrder): Promise<MixedFigures> {
  const events = Math.min(...sizes, eventsPerFile);
  const { path: file } = await eventFile(benchOptions(events));
  const order = { storedEvents: 0, files: [file], eventsPerFile: events, eventsPerSecond: null, aloneForMs: 0, memoryLimitMb };
  return await inEmptyDataDir(name, (dataDir) => measureMixed(name, { ...order, dataDir }));
}

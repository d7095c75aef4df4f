import { ENGINE_NAMES, type EngineName } from '../engines/engine.ts';

/** The circumstances without which a figure has no meaning. */
export interface Circumstances {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly commit: string;
  readonly command: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGib: number; readonly platform: string };
  readonly versions: Readonly<Record<string, string>>;
}

export type ByEngine<T> = Readonly<Partial<Record<EngineName, T>>>;

/** The files that all engines took in, one after the other. */
export interface TakenFiles {
  /** Several if one would be too large for the disk. The time between them does not count. */
  readonly count: number;
  readonly bytes: number;
}

/** The intake of the files, run by run. */
export interface IntakeFigures {
  readonly runs: readonly {
    /** Milliseconds until every event was stored and searchable. */
    readonly elapsedMs: number;
    /** Milliseconds after that until nothing was left to be merged. */
    readonly settleMs: number;
    /** CPU time of all cores until every event was searchable. The rest of the time they waited for the disk. */
    readonly cpuMs: number;
    readonly peakMemoryBytes: number;
  }[];
  readonly diskBytes: number;
}

/** One workload on one engine, in milliseconds. */
export interface SearchFigures {
  /** In a process that has just opened its data, run by run. */
  readonly coldMs: readonly number[];
  readonly hotMs: readonly number[];
  /** Like `hotMs`, with our engine in its default settings, in which it caches counts of flushed segments. */
  readonly rememberedMs: readonly number[];
}

export interface WorkloadFigures {
  readonly name: string;
  readonly title: string;
  /** `total` of the answer. */
  readonly total: number;
  readonly engines: ByEngine<SearchFigures>;
}

/** The looks at one question of the explorer on one engine, in milliseconds, run by run. */
export interface LookFigures {
  /** Nothing of the question is remembered. */
  readonly firstMs: readonly number[];
  /** The same search right after that: another page, or another selection. */
  readonly secondMs: readonly number[];
}

export interface QuestionFigures {
  readonly name: string;
  readonly title: string;
  /** Number of the events that the question is about. */
  readonly total: number;
  readonly engines: ByEngine<LookFigures>;
}

/** One search, or the first look of a question, beside what it costs at least; in milliseconds, run by run. */
export interface FloorFigures {
  readonly name: string;
  readonly title: string;
  readonly total: number;
  /** Nothing is remembered. */
  readonly oursMs: readonly number[];
  /** The fastest known statements by hand over the same files, without logs. */
  readonly floorMs: readonly number[];
}

/** Everything measured on one number of events. */
export interface SizeFigures {
  readonly events: number;
  readonly files: TakenFiles;
  readonly intake: ByEngine<IntakeFigures>;
  /** Peak memory of a process that only searched. */
  readonly searchPeakMemoryBytes: ByEngine<number>;
  readonly workloads: readonly WorkloadFigures[];
  readonly floor: readonly FloorFigures[];
}

/** Searches of a dashboard, in turns alone and during an intake. */
export interface MixedFigures {
  /** Events in the engine before. */
  readonly storedEvents: number;
  /** Null: at full speed. */
  readonly wantedEventsPerSecond: number | null;
  readonly turns: readonly {
    /** Milliseconds of searches without intake; empty if there were none. */
    readonly aloneMs: readonly number[];
    readonly eventsPerSecond: number;
    /** Milliseconds of searches during the intake. */
    readonly besideMs: readonly number[];
  }[];
  /** Peak of the process, including the time before and between turns. */
  readonly peakMemoryBytes: number;
}

/** The workloads of several clients over HTTP. */
export interface ConcurrencyFigures {
  readonly clients: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

export interface RaceResult {
  readonly circumstances: Circumstances;
  /** Ascending by events. */
  readonly sizes: readonly SizeFigures[];
  /** On the largest number of events. */
  readonly questions: readonly QuestionFigures[];
  readonly mixed: ByEngine<readonly MixedFigures[]>;
  readonly concurrency: ByEngine<readonly ConcurrencyFigures[]>;
  /** Differences between the answers of the engines. If there are any, the other figures mean nothing. */
  readonly differences: readonly string[];
}

export const OURS: EngineName = 'shieldlog';
export const RIVAL: EngineName = 'clickhouse';

/** The names of the engines for readers. */
export const ENGINE_LABELS: Readonly<Record<EngineName, string>> = { shieldlog: 'shieldlog', clickhouse: 'ClickHouse' };

/** The figures of each engine that has any, always in the same order. */
export function inOrder<T>(byEngine: ByEngine<T>): { readonly engine: EngineName; readonly label: string; readonly figures: T }[] {
  return ENGINE_NAMES.flatMap((engine) => {
    const figures = byEngine[engine];
    return figures === undefined ? [] : [{ engine, label: ENGINE_LABELS[engine], figures }];
  });
}

/** The engines with a figure in the result. */
export function enginesOf({ sizes, questions, mixed, concurrency }: RaceResult): EngineName[] {
  const searched = sizes.flatMap(({ intake, workloads }) => [intake, ...workloads.map(({ engines }) => engines)]);
  const measured = [...searched, ...questions.map(({ engines }) => engines), mixed, concurrency];
  return ENGINE_NAMES.filter((engine) => measured.some((figures) => figures[engine] !== undefined));
}

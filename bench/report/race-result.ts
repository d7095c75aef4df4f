import type { EngineName } from '../engines/engine.ts';

/** What a figure needs beside it to mean anything. */
export interface Circumstances {
  /** ISO 8601. */
  readonly startedAt: string;
  readonly commit: string;
  readonly command: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGib: number; readonly platform: string };
  readonly versions: Readonly<Record<string, string>>;
}

export type ByEngine<T> = Readonly<Partial<Record<EngineName, T>>>;

/** What all engines took in, one file after the other. */
export interface TakenFiles {
  /** Several where one would be larger than a disk likes: then what lies between them does not count. */
  readonly count: number;
  readonly bytes: number;
}

/** How the files were taken in by the runs made. */
export interface IntakeFigures {
  readonly runs: readonly {
    /** Until every event was stored and searchable. */
    readonly elapsedMs: number;
    /** Further, until nothing was left to be merged. */
    readonly settleMs: number;
    /** Of all cores together, until every event was searchable: less than the cores have in that time is waiting, for the disk that is. */
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
  /** As hot, with our engine as it is set up by itself: it remembers what flushed segments had. */
  readonly rememberedMs: readonly number[];
}

export interface WorkloadFigures {
  readonly name: string;
  readonly title: string;
  /** Of the answer that all engines gave. */
  readonly total: number;
  readonly engines: ByEngine<SearchFigures>;
}

/** Everything measured on one number of events. */
export interface SizeFigures {
  readonly events: number;
  readonly files: TakenFiles;
  readonly intake: ByEngine<IntakeFigures>;
  /** Of a process that only searched. */
  readonly searchPeakMemoryBytes: ByEngine<number>;
  readonly workloads: readonly WorkloadFigures[];
}

/** Searches of a dashboard, alone and while events come in, in turns. */
export interface MixedFigures {
  /** In the engine before. */
  readonly storedEvents: number;
  /** Null: as fast as they are taken. */
  readonly wantedEventsPerSecond: number | null;
  readonly turns: readonly {
    /** The milliseconds of searches with nothing else going on; empty where there were none. */
    readonly aloneMs: readonly number[];
    readonly eventsPerSecond: number;
    /** Of searches while events came in. */
    readonly besideMs: readonly number[];
  }[];
  /** Of the process, whatever it did before and between turns. */
  readonly peakMemoryBytes: number;
}

/** The same searches by several clients over HTTP, each one after the other. */
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
  readonly mixed: ByEngine<readonly MixedFigures[]>;
  readonly concurrency: ByEngine<readonly ConcurrencyFigures[]>;
  /** What engines answered differently; nothing else in here means anything unless it is empty. */
  readonly differences: readonly string[];
}

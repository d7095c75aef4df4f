import type { DuckDBConnection } from '@duckdb/node-api';
import { journalRows } from '../../../sql/events-relation.ts';
import { dedupKeysBetweenStatement, dedupKeysStatement } from '../../../sql/journal-statements.ts';
import { runForNumbers } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import { END_OF_SEQUENCE } from '../journal/journal-end.ts';
import { overlaps, type Segment } from '../segment/segment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import { DedupIndex, type DedupIndexLimits, type EventDedupKeys, MINUTE_MS } from './dedup-index.ts';

/** The dedup index takes so much for each event at most: a set that has just grown. */
const BYTES_AN_EVENT = 22;
const PART_OF_MEMORY = 16;

/** How many events the dedup index holds, but for minutes that events keep coming from. */
export function maxDedupEvents(memoryLimitMb: number): number {
  return (memoryLimitMb * 1024 * 1024) / PART_OF_MEMORY / BYTES_AN_EVENT;
}

/**
 * So many times as many may be in minutes that events keep coming from. At 50,000 a second and with events that are ten minutes late there
 * are 30 million of them, and to compare every load with what is stored of those would take all cores.
 */
const TIMES_IN_USE = 16;

/**
 * Events that come in with the clock, and late ones beside them, are from no more minutes. What is from more is sent again, or from a file.
 */
const FEW_MINUTES = 16;

/** So many events are read at once: until they are there nothing else happens on the main thread. */
const READ_AT_ONCE = 100_000;

const NONE = new Float64Array(0);

export interface ArrivedEvents extends EventDedupKeys {
  readonly zones: readonly number[];
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
}

export interface DuplicateCheckOptions {
  readonly connection: DuckDBConnection;
  readonly aliases: PathAliases;
  readonly maxDedupEvents: number;
}

/**
 * Finds out from the dedup index whether events that arrive are in the store already. It indexes the minutes that events come from at the
 * time; a minute that is not indexed yet it reads from the unflushed events and segments once.
 */
export class DuplicateCheck {
  readonly #options: DuplicateCheckOptions;
  readonly #limits: DedupIndexLimits;
  readonly #index: DedupIndex;

  constructor(options: DuplicateCheckOptions) {
    this.#options = options;
    this.#limits = { maxEvents: options.maxDedupEvents, maxInUse: TIMES_IN_USE * options.maxDedupEvents };
    this.#index = new DedupIndex(this.#limits);
  }

  /** The events of a journal that has some. */
  async arrived(path: string): Promise<ArrivedEvents> {
    const columns = await runForNumbers(this.#options.connection, dedupKeysStatement(path));
    const [dedupKeys = NONE, times = NONE, zones = NONE] = columns;
    let [minTimestamp, maxTimestamp] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const different = new Set<number>();
    for (let event = 0; event < times.length; event += 1) {
      const time = times[event] as number;
      minTimestamp = Math.min(minTimestamp, time);
      maxTimestamp = Math.max(maxTimestamp, time);
      different.add(zones[event] as number);
    }
    return { dedupKeys, times, zones: [...different], minTimestamp, maxTimestamp };
  }

  /**
   * False where none of the events is stored already, and none comes twice; true where that may be so, or would cost too much to know. From
   * here on they count as stored: where that fails, they are looked at more closely the next time.
   */
  async mayFindSome(arrived: ArrivedEvents, stored: Snapshot): Promise<boolean> {
    const areKnown = await this.#learn(this.#index.missing(arrived), stored);
    const areNew = this.#index.add(arrived);
    return !(areKnown && areNew);
  }

  /** False where there would be more to read than that is worth, or than there is room for. */
  async #learn(minutes: readonly number[], stored: Snapshot): Promise<boolean> {
    const areFew = minutes.length <= FEW_MINUTES;
    const reads = (areFew ? minutes.map((minute) => [minute]) : [minutes]).map((read) => ({
      minutes: read,
      parts: partsBetween(stored, (read[0] as number) * MINUTE_MS, ((read.at(-1) as number) + 1) * MINUTE_MS),
    }));
    const { maxEvents, maxInUse } = this.#limits;
    const most = areFew ? maxInUse : maxEvents / 4;
    if (reads.reduce((sum, { parts }) => sum + parts.expectedEvents, 0) > most) {
      return false;
    }
    for (const read of reads) {
      this.#index.begin(read.minutes, await this.#read(read.parts));
    }
    return true;
  }

  async #read({ fromMs, toMs, growing, flushed, expectedEvents }: StoredParts): Promise<EventDedupKeys[]> {
    if (growing.length + flushed.length === 0) {
      return [];
    }
    const { connection, aliases } = this.#options;
    const paths = flushed.map(({ file }) => aliases.segmentAlias(file));
    const rows = journalRows(sourcesOf(growing), paths, END_OF_SEQUENCE);
    const found: EventDedupKeys[] = [];
    const stepMs = Math.ceil((toMs - fromMs) / Math.max(1, expectedEvents / READ_AT_ONCE));
    for (let from = fromMs; from < toMs; from += stepMs) {
      const statement = dedupKeysBetweenStatement(rows, from, Math.min(from + stepMs, toMs));
      const [dedupKeys = NONE, times = NONE] = await runForNumbers(connection, statement);
      found.push({ dedupKeys, times });
    }
    return found;
  }
}

/** What is stored and may be from a range of time. */
interface StoredParts {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly growing: readonly GrowingSegment[];
  readonly flushed: readonly Segment[];
  /** As if the events of each part were spread evenly over its time. */
  readonly expectedEvents: number;
}

function partsBetween({ growingSegments, segments }: Snapshot, fromMs: number, toMs: number): StoredParts {
  const growing = growingSegments.filter((part) => part.events > 0 && overlaps(part, fromMs, toMs));
  const flushed = segments.filter((segment) => overlaps(segment, fromMs, toMs));
  const sizes = [...growing, ...flushed.map(({ rows, ...segment }) => ({ ...segment, events: rows }))];
  return {
    fromMs,
    toMs,
    growing,
    flushed,
    expectedEvents: sizes.reduce((sum, part) => sum + part.events * shareOf(part, fromMs, toMs), 0),
  };
}

/** How much of a part's time lies in the range. */
function shareOf(part: { readonly minTimestamp: number; readonly maxTimestamp: number }, fromMs: number, toMs: number): number {
  const common = Math.min(part.maxTimestamp + 1, toMs) - Math.max(part.minTimestamp, fromMs);
  return common / (part.maxTimestamp + 1 - part.minTimestamp);
}

import { MINUTE_MS } from '../../../query/durations.ts';
import { dedupKeysBetweenStatement, dedupKeysStatement } from '../../../sql/duplicate-statements.ts';
import { journalRows } from '../../../sql/events-relation.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { END_OF_SEQUENCE } from '../journal/journal.ts';
import { overlaps, type Segment } from '../segment/segment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import { DedupIndex, type DedupIndexLimits, type EventDedupKeys, MAX_BYTES_OF_A_KEY } from './dedup-index.ts';

/**
 * The minutes that events keep coming from may have this many times as many events as the index holds of all others. At 30,000 events a
 * second of which some are ten minutes late, they have 18 million, and a comparison of every load with the stored events would take all
 * cores.
 */
const TIMES_IN_USE = 3;

/** How many events the dedup index holds, beside minutes that events keep coming from. `indexBytes` is the memory for all of them. */
export function maxDedupEvents(indexBytes: number): number {
  return indexBytes / TIMES_IN_USE / MAX_BYTES_OF_A_KEY;
}

/** Live events and late ones among them are from no more minutes. Events from more minutes are sent again or come from a file. */
const FEW_MINUTES = 16;

/** The main thread does nothing else while it takes in this many events. */
const READ_AT_ONCE = 100_000;

const NONE = new Float64Array(0);

export interface ArrivedEvents extends EventDedupKeys {
  readonly zones: readonly number[];
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
}

export interface DuplicatePrecheckOptions {
  readonly runner: StatementRunner;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly maxDedupEvents: number;
}

/**
 * Saves most comparisons of arriving events with the stored ones: it tells from the dedup index where none of them can be stored already.
 * Where some may be, `journal-loader.ts` compares the events, and decides. The index has the minutes that events currently come from; a
 * minute that it does not have, or no longer, is read once from growing segments and segments. A message of Kafka that is fetched twice
 * does not get here: `takeBatch` drops it by its offset.
 */
export class DuplicatePrecheck {
  readonly #options: DuplicatePrecheckOptions;
  readonly #limits: DedupIndexLimits;
  readonly #index: DedupIndex;

  constructor(options: DuplicatePrecheckOptions) {
    this.#options = options;
    this.#limits = { maxEvents: options.maxDedupEvents, maxInUse: TIMES_IN_USE * options.maxDedupEvents };
    this.#index = new DedupIndex(this.#limits);
  }

  /** Reads the events of a journal that has some. */
  async arrived(path: string): Promise<ArrivedEvents> {
    const columns = await this.#options.runner.runForNumbers(dedupKeysStatement(path));
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
   * Returns false where no event is stored already and none comes twice; true where that may be so, or would cost too much to find out. The
   * events count as stored from here on: if their load fails, the next one compares them.
   */
  async mayFindSome(arrived: ArrivedEvents, stored: Snapshot): Promise<boolean> {
    const areKnown = await this.#learn(this.#index.missing(arrived), stored);
    const areNew = this.#index.add(arrived);
    return !(areKnown && areNew);
  }

  /** Indexes minutes. Returns false where that would read too much, or where there is no room for the events. */
  async #learn(minutes: readonly number[], stored: Snapshot): Promise<boolean> {
    const areFew = minutes.length <= FEW_MINUTES;
    const reads = (areFew ? minutes.map((minute) => [minute]) : [minutes]).map((read) => ({
      minutes: read,
      parts: partsBetween(stored, (read[0] as number) * MINUTE_MS, ((read.at(-1) as number) + 1) * MINUTE_MS),
    }));
    const { maxEvents, maxInUse } = this.#limits;
    const maxRead = areFew ? maxInUse : maxEvents / 4;
    if (reads.reduce((sum, { parts }) => sum + parts.expectedEvents, 0) > maxRead) {
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
    const { runner, aliases, checks } = this.#options;
    return await checks.readingInLoad(async (check) => {
      const paths = (await check(flushed, 'all')).map((segment) => aliases.segmentAlias(segment));
      const rows = journalRows(sourcesOf(growing), paths, END_OF_SEQUENCE);
      const found: EventDedupKeys[] = [];
      const stepMs = Math.ceil((toMs - fromMs) / Math.max(1, expectedEvents / READ_AT_ONCE));
      for (let from = fromMs; from < toMs; from += stepMs) {
        const statement = dedupKeysBetweenStatement(rows, from, Math.min(from + stepMs, toMs));
        const [dedupKeys = NONE, times = NONE] = await runner.runForNumbers(statement);
        found.push({ dedupKeys, times });
      }
      return found;
    });
  }
}

/** The stored parts with events of a range of time. */
interface StoredParts {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly growing: readonly GrowingSegment[];
  readonly flushed: readonly Segment[];
  /** An estimate that spreads the events of each part evenly over its time. */
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

/** The share of a part's time that lies in the range, from 0 to 1. */
function shareOf(part: { readonly minTimestamp: number; readonly maxTimestamp: number }, fromMs: number, toMs: number): number {
  const common = Math.min(part.maxTimestamp + 1, toMs) - Math.max(part.minTimestamp, fromMs);
  return common / (part.maxTimestamp + 1 - part.minTimestamp);
}

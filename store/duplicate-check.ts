import type { DuckDBConnection } from '@duckdb/node-api';
import { journalRows } from '../sql/events-relation.ts';
import { identitiesBetweenStatement, identitiesStatement } from '../sql/journal-statements.ts';
import { END_OF_SEQUENCE } from './append-place.ts';
import { runForNumbers } from './duckdb-engine.ts';
import { sourcesOf } from './hot-part.ts';
import { type EventIdentities, KnownEvents, type MissingMinutes } from './known-events.ts';
import type { Snapshot } from './live-set.ts';
import type { ReadLinks } from './read-links.ts';
import { overlaps } from './segment.ts';

/** What is known takes so much for each event at most: a set that has just grown. */
const BYTES_AN_EVENT = 22;
const PART_OF_MEMORY = 16;

/** Of how many events it is kept what tells them apart. */
export function mostKnownEvents(memoryLimitMb: number): number {
  return (memoryLimitMb * 1024 * 1024) / PART_OF_MEMORY / BYTES_AN_EVENT;
}

const NONE = new Float64Array(0);

export interface ArrivedEvents extends EventIdentities {
  readonly zones: readonly number[];
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
}

export interface DuplicateCheckOptions {
  readonly connection: DuckDBConnection;
  readonly links: ReadLinks;
  readonly mostKnownEvents: number;
}

/**
 * Finds out whether events that arrive are in the store already, from memory: of the minutes that events come from at the time it knows what tells all stored events apart. What it does not know yet of a minute it reads
 * from the hot events and segments once.
 */
export class DuplicateCheck {
  readonly #options: DuplicateCheckOptions;
  readonly #known: KnownEvents;

  constructor(options: DuplicateCheckOptions) {
    this.#options = options;
    this.#known = new KnownEvents(options.mostKnownEvents);
  }

  /** The events of a journal that has some. */
  async arrived(path: string): Promise<ArrivedEvents> {
    const columns = await runForNumbers(this.#options.connection, identitiesStatement(path));
    const [identities = NONE, times = NONE, zones = NONE] = columns;
    let [minTimestamp, maxTimestamp] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const different = new Set<number>();
    for (let event = 0; event < times.length; event += 1) {
      const time = times[event] as number;
      minTimestamp = Math.min(minTimestamp, time);
      maxTimestamp = Math.max(maxTimestamp, time);
      different.add(zones[event] as number);
    }
    return { identities, times, zones: [...different], minTimestamp, maxTimestamp };
  }

  /**
   * False where none of the events is stored already, and none comes twice; true where that may be so, or would cost too much to know. From here on they count as stored: where that fails, they are looked at
   * more closely the next time.
   */
  async mayFindSome(arrived: ArrivedEvents, stored: Snapshot): Promise<boolean> {
    const missing = this.#known.missing(arrived);
    const isKnown = missing === undefined || (await this.#read(missing, stored));
    const areNew = this.#known.add(arrived);
    return !(isKnown && areNew);
  }

  /** False where there would be more to read than there is room for. */
  async #read({ minutes, fromMs, toMs }: MissingMinutes, { hotParts, segments }: Snapshot): Promise<boolean> {
    const hot = hotParts.filter((part) => part.events > 0 && overlaps(part, fromMs, toMs));
    const sealed = segments.filter((segment) => overlaps(segment, fromMs, toMs));
    if (hot.length + sealed.length === 0) {
      this.#known.begin(minutes, { identities: NONE, times: NONE });
      return true;
    }
    const sizes = [...hot, ...sealed.map(({ rows, ...segment }) => ({ ...segment, events: rows }))];
    const expected = sizes.reduce((sum, part) => sum + part.events * shareOf(part, fromMs, toMs), 0);
    if (expected > this.#options.mostKnownEvents / 4) {
      return false;
    }
    const { connection, links } = this.#options;
    const paths = sealed.map(({ file }) => links.toSegment(file));
    const rows = journalRows(sourcesOf(hot), paths, END_OF_SEQUENCE);
    const [identities = NONE, times = NONE] = await runForNumbers(connection, identitiesBetweenStatement(rows, fromMs, toMs));
    this.#known.begin(minutes, { identities, times });
    return true;
  }
}

/** How much of a part's time lies in the range. */
function shareOf(part: { readonly minTimestamp: number; readonly maxTimestamp: number }, fromMs: number, toMs: number): number {
  const common = Math.min(part.maxTimestamp + 1, toMs) - Math.max(part.minTimestamp, fromMs);
  return common / (part.maxTimestamp + 1 - part.minTimestamp);
}

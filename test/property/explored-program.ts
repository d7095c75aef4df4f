import { join } from 'node:path';
import type { StoreTuning } from '../../store/embedded/store-options.ts';
import { NO_BACKGROUND_JOBS_MS } from '../fixtures/temporary-store.ts';
import { type OracleEvent, oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { type RunningApp, startApp } from '../src/running-app.ts';
import { ZONES } from './arbitrary-event.ts';
import { appendEvents, generateRawEvents, NOW_MS, withFolder } from './filled-store.ts';

/** One event in so many has a twin in another zone, with its id and its time. */
const IN_ANOTHER_ZONE = 8;

/** All events but one in so many have a url of their own, */
const USUAL_URL = 4;
/** and all but one in so many have one of these fingerprints, of which most come twice or more often. */
const USUAL_JA4 = 11;
const JA4_VALUES = 120;

/** The fields of which events have more values than {@link FEW_VALUES} allows. */
export const MANY_VALUES = ['ip', 'url', 'ja4'] as const;

/** Random events of several zones. There are some more of them than `count`. */
export function eventsOfZones(seed: number, count: number): RawEvent[] {
  return generateRawEvents(seed, count).flatMap((each, index) => {
    const event: RawEvent = {
      ...each,
      ...(index % USUAL_URL !== 2 && { url: `/own/${index}` }),
      ...(index % USUAL_JA4 !== 1 && { ja4: `t13d${index % JA4_VALUES}` }),
    };
    const zone = Number(event['shieldZoneId']);
    const other = ZONES[(ZONES.indexOf(zone) + 1) % ZONES.length];
    return index % IN_ANOTHER_ZONE === 0 ? [event, { ...event, shieldZoneId: other, ua: `twin of ${zone}` }] : [event];
  });
}

/** A program over a store in a folder, and the events that it was given. */
export class ExploredProgram {
  readonly #folder: string;
  readonly #raw: readonly RawEvent[];
  #app: RunningApp;
  #begun = 0;
  #stored = 0;

  private constructor(folder: string, raw: readonly RawEvent[], app: RunningApp) {
    this.#folder = folder;
    this.#raw = raw;
    this.#app = app;
  }

  /** Runs `work` with a program that has stored none of the events yet. */
  static async with(raw: readonly RawEvent[], options: StoreTuning, work: (program: ExploredProgram) => Promise<void>): Promise<void> {
    await withFolder(async (folder) => {
      const program = new ExploredProgram(folder, raw, await start(folder, options));
      try {
        await work(program);
      } finally {
        await program.app.stop();
      }
    });
  }

  get app(): RunningApp {
    return this.#app;
  }

  /** Number of the events that are stored for sure, and of those that may be. */
  get stored(): { readonly least: number; readonly most: number } {
    return { least: this.#stored, most: this.#begun };
  }

  get areLeft(): boolean {
    return this.#begun < this.#raw.length;
  }

  /** What a correct program has after the first events; by default after those that are stored. */
  eventsAfter(count = this.#stored): readonly OracleEvent[] {
    return oracleEvents(this.#raw.slice(0, count));
  }

  /** Appends so many events more, or as many as are left, in one batch. */
  async append(count: number): Promise<void> {
    const batch = this.#raw.slice(this.#begun, this.#begun + count);
    this.#begun += batch.length;
    await appendEvents(this.#app.store, batch);
    this.#stored = this.#begun;
  }

  async restart(options: StoreTuning): Promise<void> {
    await this.#app.stop();
    this.#app = await start(this.#folder, options);
  }
}

function start(folder: string, options: StoreTuning): Promise<RunningApp> {
  return startApp({
    dataDir: join(folder, 'data'),
    now: () => NOW_MS,
    // The oracle works in the same process, for longer than a search may take.
    env: { QUERY_DEADLINE_MS: '3600000' },
    storeOptions: { backgroundJobsEveryMs: NO_BACKGROUND_JOBS_MS, ...options },
  });
}

/**
 * Limits that some hundred events meet: of a field with many values only the first ones are known, as many as a facet may ask for and a few
 * more, and urls of few events already are counted apart.
 */
export const FEW_VALUES: StoreTuning = {
  valueCountLimits: { values: 110, urls: 100, together: 60, listed: 30, listBytes: 1e6, valueBytes: 1e6 },
};

/** Values of more than a few letters are too long to be listed, and those of most fields together. */
export const LONG_VALUES: StoreTuning = {
  valueCountLimits: { values: 110, urls: 100, together: 60, listed: 30, listBytes: 400, valueBytes: 40 },
};

const TWO_PHASES: StoreTuning = { maxKept: { filtered: 0, otherwise: 0 } };
const FINGERPRINTS: StoreTuning = { maxKept: { filtered: 0, otherwise: 0, singletons: { events: 0, share: 0 } } };

/** Takes a program through the states of its data, and hands it to `work` in each. */
export async function inEachState(
  raw: readonly RawEvent[],
  options: StoreTuning,
  work: (program: ExploredProgram, state: string) => Promise<void>,
): Promise<void> {
  const part = Math.ceil(raw.length / 4);
  await ExploredProgram.with(raw, options, async (program) => {
    await program.append(part);
    await work(program, 'in the memtable');
    await program.app.store.settle('flush');
    await program.append(part);
    await program.app.store.settle('flush');
    await program.append(part);
    await work(program, 'in two flushes and the memtable');
    await program.restart({ ...options, ...TWO_PHASES });
    await work(program, 'restarted, with groups in two phases');
    await program.restart({ ...options, ...FINGERPRINTS });
    await program.app.store.settle('flush');
    await program.app.store.settle('merge');
    await program.append(part);
    await work(program, 'merged, with the memtable on top and groups by fingerprints');
  });
}

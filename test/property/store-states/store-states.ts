import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RawEvent } from '../../oracle/raw-event.ts';
import { AcceptedEvents, dayOfEvents } from './day-of-events.ts';
import { WalkedProgram } from './walked-program.ts';

/** How many events come, how they are spread, and how many are flushed together. */
export interface EventSpread {
  readonly name: string;
  readonly zones: readonly number[];
  readonly hours: number;
  /** In the first flush. */
  readonly events: number;
  /** In each of the flushes behind it, and in memory on top of them. */
  readonly later: number;
  /** True where the first flushes leave so few segments that none of them may be due for a merge. */
  readonly mayHaveNothingToMerge?: boolean;
}

const BATCH_EVENTS = 5_000;
const LATER_FLUSHES = 3;
/** Each later batch has so many events that were accepted before. */
const TWINS = 20;

/** One store with its program, which is brought from state to state, and a plain list of what it accepted. */
export class StoreStates {
  readonly accepted = new AcceptedEvents();
  readonly folder: string;
  readonly app: WalkedProgram;
  readonly #spread: EventSpread;
  readonly #seed: number;
  #generated = 0;
  #first: RawEvent[] = [];
  #merging: Promise<void> | undefined;
  #segmentsBefore = 0;
  #entered = 0;

  private constructor(folder: string, spread: EventSpread, seed: number, app: WalkedProgram) {
    this.folder = folder;
    this.#spread = spread;
    this.#seed = seed;
    this.app = app;
  }

  static async begin(spread: EventSpread, seed: number): Promise<StoreStates> {
    const folder = await mkdtemp(join(tmpdir(), 'shieldlog-states-'));
    await mkdir(join(folder, 'consumers'));
    return new StoreStates(folder, spread, seed, await WalkedProgram.in(join(folder, 'data')));
  }

  /** Goes on to a state, through those before it. */
  async enter(index: number): Promise<void> {
    while (this.#entered <= index) {
      this.#entered += 1;
      await STORE_STATES[this.#entered - 1]?.enter(this, this.#spread);
    }
  }

  async append(count: number, twins = 0): Promise<void> {
    const { zones, hours } = this.#spread;
    const events = [...dayOfEvents({ seed: this.#seed, count, hours, zones, first: this.#generated }), ...this.#first.slice(0, twins)];
    this.#generated += count;
    for (let from = 0; from < events.length; from += BATCH_EVENTS) {
      const batch = events.slice(from, from + BATCH_EVENTS);
      await this.app.append(batch);
      this.accepted.add(batch);
      if (this.#first.length === 0) this.#first = batch;
    }
  }

  restart(): Promise<void> {
    return this.app.restart();
  }

  flush(): Promise<void> {
    return this.app.flush();
  }

  /** Begins to flush what is in memory and to merge all; that goes on until {@link merged} resolves. */
  merge(): void {
    this.#merging = this.app.flush().then(async () => {
      this.#segmentsBefore = (await this.app.stats()).segments;
      return this.app.compact();
    });
    // Who waits for it is told.
    this.#merging.catch(() => undefined);
  }

  async merged(): Promise<void> {
    await this.#merging;
    const { segments } = await this.app.stats();
    if (this.#spread.mayHaveNothingToMerge) expect(segments).toBeLessThanOrEqual(this.#segmentsBefore);
    else expect(segments).toBeLessThan(this.#segmentsBefore);
  }

  async end(): Promise<void> {
    await this.app.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A state of the store, and how it gets there from the one before. */
export interface StoreState {
  readonly name: string;
  readonly enter: (states: StoreStates, spread: EventSpread) => Promise<void>;
}

/** The life of every event: each state is the one before it and one step more. */
export const STORE_STATES: readonly StoreState[] = [
  {
    name: 'in the memtable',
    enter: async (states, { events }) => {
      await states.append(events);
      expect(await states.app.stats()).toMatchObject({ unflushedEvents: events, segments: 0 });
    },
  },
  {
    name: 'replayed from journals',
    enter: async (states, { events }) => {
      await states.restart();
      expect(await states.app.stats()).toMatchObject({ unflushedEvents: events, segments: 0 });
    },
  },
  {
    name: 'in one flush',
    enter: async (states) => {
      await states.flush();
      expect((await states.app.stats()).unflushedEvents).toBe(0);
    },
  },
  {
    name: 'in several flushes and the memtable',
    enter: async (states, { later }) => {
      for (let flush = 0; flush < LATER_FLUSHES; flush += 1) {
        await states.append(later, TWINS);
        await states.flush();
      }
      await states.append(later, TWINS);
      expect(await states.app.stats()).toMatchObject({ unflushedEvents: later, duplicateEvents: (LATER_FLUSHES + 1) * TWINS });
    },
  },
  {
    name: 'restarted, in segments and replayed from journals',
    enter: async (states, { later }) => {
      await states.restart();
      expect(await states.app.stats()).toMatchObject({ unflushedEvents: later });
    },
  },
  { name: 'while flushing and merging', enter: async (states) => states.merge() },
  { name: 'merged', enter: (states) => states.merged() },
  {
    name: 'merged and restarted',
    enter: async (states) => {
      await states.restart();
      expect(await states.app.stats()).toMatchObject({ unflushedEvents: 0 });
    },
  },
  {
    name: 'merged a second time, with a flush and the memtable on top',
    enter: async (states, { later }) => {
      for (let flush = 0; flush < LATER_FLUSHES; flush += 1) {
        await states.append(later, TWINS);
        await states.flush();
      }
      states.merge();
      await states.merged();
      await states.append(later, TWINS);
      await states.flush();
      await states.append(later, TWINS);
    },
  },
];

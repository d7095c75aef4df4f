import type { BreakableServer } from '../engine.ts';
import type { SharedStore } from '../shared-store.ts';

/** Times are microseconds: of the server, or of the store. */
const MILLISECOND = 1_000;
const SECOND = 1_000_000;

/** A time may be so much later than what is written down of it before a reader gets to know it. */
const NOT_WRITTEN = 10 * SECOND;

/**
 * The clocks by which a program takes the time, none of which is ahead of the next one: of all nodes, of the node that it asks, of any
 * node. One server has one.
 */
const CLOCKS = ['earliest', 'asked', 'latest'] as const;

export type Clock = (typeof CLOCKS)[number];

/** A look of a program at the time. */
interface Mark {
  /** By how much the time of the store was ahead of the server's. */
  readonly ahead: number;
  readonly begunAt: number;
  readonly endedAt: number;
}

/** What a program knows of the time. */
export interface Knowledge {
  /** Its last look at each of the clocks. */
  readonly marks: (Mark | undefined)[];
  /** The highest time that it has given to a reader. */
  given: number;
  /** The lead when it gave a time last. */
  lead: number | undefined;
}

/**
 * The time of a store whose clocks a test moves: by how much they are moved, the lead, and what programs have told of the time. It says how
 * early a time a program may find, as docs/faults.md and docs/clickhouse.md promise.
 */
export class KnownTime {
  readonly #shared: SharedStore;
  readonly #servers: readonly BreakableServer[];
  /** By how much each clock is moved, and was at most. */
  readonly #offsets: number[];
  readonly #highest: number[];
  #lead = 0;
  #given = 0;

  constructor(shared: SharedStore, servers: readonly BreakableServer[]) {
    this.#shared = shared;
    this.#servers = servers;
    this.#offsets = servers.map(() => 0);
    this.#highest = servers.map(() => 0);
  }

  /** The highest time that any program has given to a reader. */
  get given(): number {
    return this.#given;
  }

  get lead(): number {
    return this.#lead;
  }

  newKnowledge(): Knowledge {
    return { marks: CLOCKS.map(() => undefined), given: 0, lead: undefined };
  }

  /** Clocks that a program of one server takes for one have one number. */
  indexOf(clock: Clock): number {
    return this.#servers.length === 1 ? 0 : CLOCKS.indexOf(clock);
  }

  serverOf(program: number): BreakableServer {
    return this.#servers[program % this.#servers.length] as BreakableServer;
  }

  /** Moves the clock of one node from where it is, or those of all. */
  async step(node: number | 'all', byMs: number): Promise<void> {
    const isMoved = (index: number): boolean => node === 'all' || node % this.#offsets.length === index;
    await this.#move(this.#offsets.map((offset, index) => (isMoved(index) ? offset + byMs * MILLISECOND : offset)));
  }

  /** Puts all clocks at the latest that one of them was at. */
  async catchUp(): Promise<void> {
    await this.#move(this.#highest.map(() => Math.max(...this.#highest)));
  }

  async putRight(): Promise<void> {
    await this.#move(this.#offsets.map(() => 0));
  }

  /**
   * Has a program do something for which it looks at the time. Resolves with what that gives, and with a time that is no later than the one
   * that the program has found.
   */
  async look<Told>(program: number, knowledge: Knowledge, clock: Clock, act: () => Promise<Told>) {
    const begunAt = await this.#read();
    const ahead = this.#ahead(clock, program);
    const told = await act();
    const endedAt = await this.#read();
    const at = this.indexOf(clock);
    // What was given to a reader by anybody is found to be ahead of the time, but for what is not written down of it.
    const isBehind = this.#given - NOT_WRITTEN > endedAt + ahead + SECOND;
    let least = Math.max(begunAt + ahead, knowledge.given, isBehind ? this.#given : this.#given - NOT_WRITTEN);
    for (const mark of knowledge.marks.slice(0, at + 1)) {
      if (mark === undefined) continue;
      // A clock that is put right little by little loses no more than a tenth: a smaller step back is none to a program.
      const passed = endedAt - mark.begunAt - 0.9 * (begunAt - mark.endedAt);
      if (mark.ahead - ahead > passed) least = Math.max(least, begunAt + mark.ahead);
    }
    knowledge.marks[at] = { ahead: this.#ahead(clock, program), begunAt, endedAt };
    return { told, least };
  }

  /** A program has given a time to a reader. */
  gave(knowledge: Knowledge, time: number): void {
    knowledge.given = Math.max(knowledge.given, time);
    knowledge.lead = this.#lead;
    this.#given = Math.max(this.#given, time);
  }

  /** By how much the time of the store is ahead of the server's, by a clock that a program asks. */
  #ahead(clock: Clock, program: number): number {
    const asked = this.#offsets[program % this.#offsets.length] as number;
    return { earliest: Math.min(...this.#offsets), asked, latest: Math.max(...this.#offsets) }[clock] + this.#lead;
  }

  /** Resolves with the time of the server, by a function whose clock nobody moves; the lead is known then, too. */
  async #read(): Promise<number> {
    const [row] = await this.#shared.rows('SELECT max(lead), intDiv(toUnixTimestamp64Nano(now64(9)), 1000) FROM store_clock');
    this.#lead = Number(row?.[0]);
    return Number(row?.[1]);
  }

  async #move(offsets: readonly number[]): Promise<void> {
    for (const [index, offset] of offsets.entries()) {
      if (offset === this.#offsets[index]) continue;
      await this.#servers[index]?.moveClock(offset / MILLISECOND);
      this.#offsets[index] = offset;
      this.#highest[index] = Math.max(offset, this.#highest[index] as number);
    }
  }
}

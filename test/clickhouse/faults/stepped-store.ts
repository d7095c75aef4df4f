import { expect } from 'vitest';
import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import type { ClickhouseStore } from '../../../store/clickhouse/clickhouse-store.ts';
import { sequenceAt } from '../../../store/clickhouse/feed/positions.ts';
import { CursorAhead, type EventBatch, type FeedPosition } from '../../../store/event-store.ts';
import { explored, exportedRows, rowsOf } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { RETENTION_MS } from '../../fixtures/temporary-store.ts';
import { event, rowsPlan } from '../../store/embedded/stored-events.ts';
import type { BreakableServer } from '../engine.ts';
import { BreakableProxy } from '../server/breakable-proxy.ts';
import type { SharedStore } from '../shared-store.ts';
import { type Clock, type Knowledge, KnownTime } from './known-time.ts';

/** What the two programs run on. */
export interface SteppedPlace {
  readonly shared: SharedStore;
  /** The nodes, each with a clock. Each program asks its own, or the only one. */
  readonly servers: readonly BreakableServer[];
  /** The table that events are read from. */
  readonly table: 'events_local' | 'events';
}

interface SentEvent {
  isAcknowledged: boolean;
  /** The time of its sequence: the lowest of its copies. */
  time: number;
  /** A reader may have been behind it when it was stored, so that it is late for the feed. */
  isLate: boolean;
}

interface Program {
  readonly index: number;
  readonly store: ClickhouseStore;
  readonly way: BreakableProxy;
  readonly knows: Knowledge;
  /** What an answer bounded by each of the clocks has had, which it has from then on. */
  readonly found: readonly Set<string>[];
  lateEvents: number;
}

/** A reader of the feed, as it was at some time: its cursor, and all that it had got. */
interface Reader {
  readonly cursor: string;
  readonly got: ReadonlySet<string>;
}

const INSERT = '^INSERT INTO "events';

const QUESTION: ExplorePlan = {
  search: { ...rowsPlan({ zones: 'all' }), window: { fromMs: NOW - RETENTION_MS, toMs: NOW + 1 } },
  histogram: { buckets: 3, by: null },
  facets: [{ field: 'country', limit: 10, order: 'count' }],
  selection: null,
};

/**
 * Two programs of a store on servers whose clocks step, and what each of their answers has to have. Every method does one thing, and holds
 * it to what is known of the time: what a program was told, what readers were given, the lead.
 */
export class SteppedStore {
  readonly #place: SteppedPlace;
  readonly #time: KnownTime;
  readonly #programs: Program[] = [];
  readonly #killed: Program[] = [];
  readonly #events = new Map<string, SentEvent>();
  /** Batches whose answers were lost. */
  readonly #lost: (readonly string[])[] = [];
  readonly #readers: Reader[] = [];
  #made = 0;

  private constructor(place: SteppedPlace) {
    this.#place = place;
    this.#time = new KnownTime(place.shared, place.servers);
  }

  static async open(place: SteppedPlace): Promise<SteppedStore> {
    const stepped = new SteppedStore(place);
    for (const index of [0, 1]) await stepped.#open(index);
    const { positions } = stepped.#program(0).store;
    stepped.#readers.push({ cursor: positions.encode(await positions.oldest()), got: new Set() });
    return stepped;
  }

  /** Ends all programs, and puts the clocks right. */
  async close(): Promise<void> {
    await Promise.all(this.#place.servers.map((server) => server.mend()));
    await Promise.all([...this.#programs, ...this.#killed].map(end));
    await this.#time.putRight();
  }

  /** Moves the clock of one node from where it is, or those of all. */
  step(node: number | 'all', byMs: number): Promise<void> {
    return this.#time.step(node, byMs);
  }

  async append(by: number, count: number): Promise<void> {
    await this.#send(this.#program(by), this.#newEvents(count));
  }

  /** An insert that is stored, and whose program does not get to know it. */
  async lose(by: number, count: number): Promise<void> {
    const program = this.#program(by);
    const logIds = this.#newEvents(count);
    program.way.faults.add({ kind: 'cut-after', matching: INSERT, times: 1 });
    const look = await this.#look(program, 'asked', async () => {
      await expect(program.store.append(batchOf(logIds))).rejects.toMatchObject({ code: 'unavailable' });
    });
    await this.#stored(logIds, look.least);
    this.#lost.push(logIds);
  }

  /** The first batch whose answer was lost is sent again. */
  async sendAgain(by: number): Promise<void> {
    const logIds = this.#lost.shift();
    if (logIds !== undefined) await this.#send(this.#program(by), logIds);
  }

  /**
   * All clocks step while an insert is on its way to the server. The other program gives a cursor before that, after that, or while the
   * insert runs.
   */
  async appendMeanwhile(by: number, byMs: number, looks: readonly ('before' | 'after' | 'running')[]): Promise<void> {
    const [program, other] = [this.#program(by), this.#program(1 - by)];
    const server = this.#time.serverOf(by);
    const logIds = this.#newEvents(1);
    const onItsWay = program.way.faults.add({ kind: 'hold', at: 'before', matching: INSERT, times: 1 });
    let appended: Promise<unknown> = Promise.resolve();
    const { least } = await this.#look(program, 'asked', async () => {
      appended = program.store.append(batchOf(logIds));
      await program.way.faults.held(onItsWay, 1);
    });
    if (looks.includes('before')) await this.#newest(other);
    await this.step('all', byMs);
    if (looks.includes('after')) await this.#newest(other);
    const running = await server.break({ kind: 'hold', at: 'inside', matching: INSERT, times: 1 });
    program.way.faults.release(onItsWay);
    await server.held(running);
    const leadBefore = other.knows.lead ?? Number.POSITIVE_INFINITY;
    const givenBefore = other.knows.given;
    if (looks.includes('running')) await this.#newest(other);
    await server.mend(running);
    await appended;
    // What is given while it runs is before it, and so is what a program gives that has found the step.
    const isBefore = looks.includes('after') || other.knows.given > givenBefore;
    await this.#stored(logIds, isBefore ? Math.max(least, other.knows.given + 1) : least, true);
    if (this.#time.lead > leadBefore) {
      other.lateEvents += logIds.filter((logId) => this.#sent(logId).time <= other.knows.given).length;
    }
  }

  /** Ends a program and starts it anew; the clocks step in between. A program that is killed writes nothing more down. */
  async reopen(index: number, how: 'close' | 'kill', byMs: number): Promise<void> {
    const program = this.#program(index);
    expect(program.store.counters().lateEvents).toBe(program.lateEvents);
    if (how === 'close') await end(program);
    else this.#killed.push(program);
    await this.step('all', byMs);
    await this.#open(index);
  }

  /** Everything that there is, asked of one program in one way. */
  async ask(of: number, question: 'search' | 'explore' | 'export'): Promise<void> {
    const program = this.#program(of);
    if (question === 'search') {
      // One statement, which has all that is stored, whatever its time is.
      this.#expectAll(await idsBy(program.store, question), this.#acknowledged());
    } else if (question === 'export') {
      const { told, least } = await this.#look(program, 'latest', () => idsBy(program.store, question));
      this.#expectAll(told, this.#visibleTo(program, 'latest', least));
      this.#found(program, 'latest', told);
    } else {
      const { told, least } = await this.#look(program, 'latest', () => countedBy(program.store));
      expect(told).toBeGreaterThanOrEqual(this.#visibleTo(program, 'latest', least).length);
      expect(told).toBeLessThanOrEqual(this.#events.size);
    }
  }

  /** Some pages of the feed, behind a cursor of any time; gives a new one. */
  async readFeed(by: number, reader: number, limit: number, pages: number): Promise<void> {
    const { cursor, got } = this.#readers[reader % this.#readers.length] as Reader;
    const program = this.#program(by);
    const { positions } = program.store;
    const ids = [...got];
    const { told: page, least } = await this.#look(program, 'earliest', async () => {
      let position = await this.#decoded(program, cursor);
      for (let count = 1; ; count += 1) {
        const { lines, more, end: reached } = await program.store.readFeed({ zones: 'all', after: position, limit });
        let last = sequenceAt(position);
        for (const { sequence, bytes, start, end: to } of lines) {
          expect(sequence).toBeGreaterThan(last);
          last = sequence;
          ids.push(JSON.parse(bytes.toString('utf8', start, to)).logId);
        }
        expect(sequenceAt(reached)).toBeGreaterThanOrEqual(last);
        position = await this.#decoded(program, positions.encode(reached));
        if (!more || count === pages) return { more, position };
      }
    });
    const isToEnd = !page.more;
    const visible = this.#visibleTo(program, 'earliest', least).filter((logId) => !this.#sent(logId).isLate);
    this.#expectAll(ids, isToEnd ? visible : []);
    const reached = timeOf(sequenceAt(page.position));
    if (isToEnd) expect(reached).toBeGreaterThanOrEqual(least - 1);
    this.#time.gave(program.knows, reached);
    this.#found(program, 'earliest', ids);
    this.#readers.push({ cursor: positions.encode(page.position), got: new Set(ids) });
  }

  merge(): Promise<void> {
    return this.#place.shared.merge();
  }

  /** Sends what was lost, puts the clocks at the latest that they were at, and asks every program for everything. */
  async expectEverything(): Promise<void> {
    while (this.#lost.length > 0) await this.sendAgain(this.#lost.length % 2);
    for (const { index } of this.#programs) await this.#askAll(index);
    await this.#time.catchUp();
    for (const { index } of this.#programs) await this.ask(index, 'explore');
    for (const [reader] of [...this.#readers].entries()) await this.readFeed(reader % 2, reader, 100, 1_000);
    for (const { store, lateEvents } of this.#programs) expect((await store.stats()).lateEvents).toBe(lateEvents);
  }

  async #askAll(index: number): Promise<void> {
    for (const question of ['explore', 'export', 'search'] as const) await this.ask(index, question);
    await this.readFeed(index, 0, 100, 1_000);
  }

  async #open(index: number): Promise<void> {
    const way = await BreakableProxy.open(this.#time.serverOf(index).url);
    const store = await this.#place.shared.open({}, way.url);
    const knows = this.#time.newKnowledge();
    const found = knows.marks.map(() => new Set<string>());
    const program: Program = { index, store, way, knows, found, lateEvents: 0 };
    this.#programs[index] = program;
    // What is stored when a program starts is in its answers, whatever the clock has done before.
    this.#found(program, 'latest', this.#acknowledged());
    await this.#look(program, 'asked', () => store.append(canonicalBatch([])));
  }

  async #send(program: Program, logIds: readonly string[]): Promise<void> {
    const { least } = await this.#look(program, 'asked', () => program.store.append(batchOf(logIds)));
    await this.#stored(logIds, least, true);
  }

  /** Notes what an insert has stored. What is new has no time that its program knew to be over. */
  async #stored(logIds: readonly string[], least: number, isAcknowledged = false): Promise<void> {
    const rows = await this.#place.shared.rows(`SELECT "logId", min("seq") FROM ${this.#place.table} GROUP BY 1`);
    const times = new Map(rows.map(([logId, sequence]) => [String(logId), timeOf(BigInt(String(sequence)))]));
    for (const logId of logIds) {
      const time = times.get(logId) ?? 0;
      const sent = this.#events.get(logId);
      if (sent === undefined) expect(time).toBeGreaterThanOrEqual(least);
      const isLate = time === sent?.time ? sent.isLate : time <= this.#time.given;
      this.#events.set(logId, { isAcknowledged, time, isLate });
    }
  }

  #look<Told>({ index, knows }: Program, clock: Clock, act: () => Promise<Told>) {
    return this.#time.look(index, knows, clock, act);
  }

  async #newest(program: Program): Promise<void> {
    const { told } = await this.#look(program, 'earliest', () => program.store.positions.newest());
    this.#time.gave(program.knows, timeOf(sequenceAt(told)));
  }

  /** A cursor is never refused. */
  async #decoded({ store }: Program, cursor: string): Promise<FeedPosition> {
    const position = await store.positions.decode(cursor);
    expect(position).not.toBeInstanceOf(CursorAhead);
    expect(position).not.toBeTypeOf('string');
    return position as FeedPosition;
  }

  /** The events that an answer of a program has, whose time is not before `least`. */
  #visibleTo(program: Program, clock: Clock, least: number): readonly string[] {
    const found = this.#foundBy(program, clock);
    return this.#acknowledged().filter((logId) => found.has(logId) || this.#sent(logId).time < least);
  }

  #acknowledged(): readonly string[] {
    return [...this.#events.keys()].filter((logId) => this.#sent(logId).isAcknowledged);
  }

  #sent(logId: string): SentEvent {
    return this.#events.get(logId) as SentEvent;
  }

  /** Whether an answer has each of these events, and no other one twice or that was not sent. */
  #expectAll(all: readonly string[], expected: readonly string[]): void {
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
    expect(expected.filter((logId) => !all.includes(logId))).toEqual([]);
    expect(all.filter((logId) => !this.#events.has(logId))).toEqual([]);
  }

  #foundBy(program: Program, clock: Clock): Set<string> {
    return program.found[this.#time.indexOf(clock)] as Set<string>;
  }

  #found(program: Program, clock: Clock, logIds: readonly string[]): void {
    for (const logId of logIds) this.#foundBy(program, clock).add(logId);
  }

  #program(index: number): Program {
    return this.#programs[index] as Program;
  }

  #newEvents(count: number): readonly string[] {
    this.#made += count;
    return Array.from({ length: count }, (_, nth) => `e${this.#made - nth}`);
  }
}

async function end({ store, way }: Program): Promise<void> {
  await store.close();
  await way.close();
}

function timeOf(sequence: bigint): number {
  return Number(sequence / BigInt(WRITERS));
}

/** Events of two zones, which the cluster of the tests has on two shards. */
function batchOf(logIds: readonly string[]): EventBatch {
  return canonicalBatch(logIds.map((logId) => event(logId, NOW, { shieldZoneId: 7 + (Number(logId.slice(1)) % 3) })));
}

async function idsBy(store: ClickhouseStore, question: 'search' | 'export'): Promise<readonly string[]> {
  const plan = rowsPlan({ zones: 'all' });
  if (question === 'export') return (await exportedRows(store, plan)).map(({ logId }) => logId);
  const result = await store.search(plan);
  const ids = (await rowsOf(result)).map(({ logId }) => logId);
  expect(result.total).toBe(ids.length);
  return ids;
}

/** How many events there are to the explorer, in each part of its answer. */
async function countedBy(store: ClickhouseStore): Promise<number> {
  const { page, histogram, facets } = await explored(await store.explore(QUESTION));
  const ofFacet = facets?.[0]?.values.reduce((sum, { count }) => sum + count, 0) ?? 0;
  expect([histogram?.series[0]?.total ?? 0, ofFacet]).toEqual([page.total, page.total]);
  return page.total;
}

import { describe, expect, onTestFinished, test } from 'vitest';
import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import type { ClickhouseStore } from '../../../store/clickhouse/clickhouse-store.ts';
import { sequenceAt } from '../../../store/clickhouse/feed/positions.ts';
import { CursorAhead, type FeedPosition, type StoreLogger } from '../../../store/event-store.ts';
import { explored } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { NOW } from '../../fixtures/present.ts';
import { event, rowsPlan } from '../../store/embedded/stored-events.ts';
import { type BreakableServer, breakableServer } from '../engine.ts';
import { BreakableProxy } from '../server/breakable-proxy.ts';
import { everythingIn, readFeed, type SharedStore, sharedStore } from '../shared-store.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

const INSERT = '^INSERT INTO "events_local"';

const QUESTION: ExplorePlan = {
  search: { ...rowsPlan({ zones: 'all' }), window: { fromMs: NOW - DAY, toMs: NOW + 1 } },
  histogram: { buckets: 3, by: null },
  facets: [{ field: 'country', limit: 10, order: 'count' }],
  selection: null,
};

/** By how much a clock steps: less than a second, less and more than what is not written down, a day. */
const STEPS = [-0.4, -10, -11, -86_400, 3, 86_400].map((seconds) => seconds * SECOND);

/** Seconds and minutes. */
const FEW_STEPS = [-3, -600, 600].map((seconds) => seconds * SECOND);

/** Drops days past the retention once, at the start. */
const SWEEPING = { sweepEveryMs: DAY };

const one = (logId: string) => canonicalBatch([event(logId, NOW)]);

const ids = (events: readonly { readonly logId: string }[]) => events.map(({ logId }) => logId);

async function place(): Promise<{ readonly server: BreakableServer; readonly shared: SharedStore }> {
  const server = await breakableServer();
  return { server, shared: await sharedStore(server.url) };
}

/** Whether a store answers with these events everywhere, and its feed in this order. */
async function expectAll(store: ClickhouseStore, logIds: readonly string[]): Promise<void> {
  const count = logIds.length;
  const { page, exported, feed, total, histogram, facet, groups } = await everythingIn(store);
  expect({ total, histogram, facet, groups }).toEqual({ total: count, histogram: count, facet: [['', count]], groups: [['', count]] });
  expect([page.toSorted(), exported.toSorted()]).toEqual([logIds.toSorted(), logIds.toSorted()]);
  expect(feed).toEqual(logIds);
}

/** The cursor of a store's feed at its end, as a client has it. */
async function cursorOf(store: ClickhouseStore): Promise<string> {
  const page = await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 1_000 });
  return store.positions.encode(page.end);
}

/** Ends programs that cannot tell anything any more. */
async function kill(server: BreakableServer, programs: readonly ClickhouseStore[]): Promise<void> {
  await server.goAway();
  await Promise.all(programs.map((program) => program.close()));
  await server.comeBack();
}

/** The lines of a log. */
function told(): { readonly lines: string[]; readonly logger: StoreLogger } {
  const lines: string[] = [];
  const tell = (_details: object, message: string): void => {
    lines.push(message);
  };
  return { lines, logger: { info: tell, warn: tell, error: tell } };
}

async function behind(store: ClickhouseStore, cursor: string): Promise<readonly string[]> {
  const position = await store.positions.decode(cursor);
  expect(position).not.toBeInstanceOf(CursorAhead);
  return ids(await readFeed(store, position as FeedPosition));
}

test.each(STEPS)(
  'a clock that steps by %d ms hides nothing, and the feed goes on behind cursors from before, in every program',
  async (stepMs) => {
    const { server, shared } = await place();
    const [store, other] = [await shared.open(), await shared.open()];
    await store.append(one('a'));
    await other.append(one('b'));
    const cursor = await cursorOf(store);
    await server.moveClock(stepMs);
    await expectAll(store, ['a', 'b']);
    await other.append(one('c'));
    await store.append(one('d'));
    for (const program of [store, other]) {
      await expectAll(program, ['a', 'b', 'c', 'd']);
      expect(await behind(program, cursor)).toEqual(['c', 'd']);
    }
    expect(await store.stats()).toMatchObject({ lateEvents: 0, clockBehindMs: 0 });
  },
);

describe.each(FEW_STEPS)('a clock that steps by %d ms', (stepMs) => {
  test('keeps what is stored behind what was stored before where nobody reads', async () => {
    const { server, shared } = await place();
    const [store, other] = [await shared.open(), await shared.open()];
    await store.append(one('a'));
    await server.moveClock(stepMs);
    await store.append(one('b'));
    await server.moveClock(0);
    await store.append(one('c'));
    await expectAll(other, ['a', 'b', 'c']);
  });

  test('is found by a program that starts after it', async () => {
    const { server, shared } = await place();
    const before = await shared.open();
    await before.append(one('a'));
    const cursor = await cursorOf(before);
    await before.close();
    await server.moveClock(stepMs);
    const after = await shared.open();
    await after.append(one('b'));
    await expectAll(after, ['a', 'b']);
    expect(await behind(after, cursor)).toEqual(['b']);
  });

  test('while an insert runs has nobody miss its events', async () => {
    const { server, shared } = await place();
    const [store, other] = [await shared.open(), await shared.open()];
    await store.append(one('a'));
    const cursor = await cursorOf(store);
    const fault = await server.break({ kind: 'hold', at: 'inside', matching: INSERT, times: 1 });
    const slow = other.append(one('b'));
    await server.held(fault);
    await server.moveClock(stepMs);
    await store.append(one('c'));
    const middle = await store.readFeed({ zones: 'all', after: (await store.positions.decode(cursor)) as FeedPosition, limit: 10 });
    expect((await everythingIn(store)).histogram).toBe(2);
    await server.mend(fault);
    await slow;
    const rest = await behind(store, store.positions.encode(middle.end));
    expect([...middle.lines.map(({ bytes, start, end }) => JSON.parse(bytes.toString('utf8', start, end)).logId), ...rest].sort()).toEqual([
      'b',
      'c',
    ]);
    expect((await everythingIn(store)).histogram).toBe(3);
    expect(await store.stats()).toMatchObject({ lateEvents: 0 });
  });

  test('while a program looks at it for the first time is found by that program', async () => {
    const { server, shared } = await place();
    const [store, other] = [await shared.open(), await shared.open()];
    await store.append(one('a'));
    const fault = await server.break({ kind: 'hold', at: 'after', matching: '^SELECT max\\(seq\\)', times: 1 });
    const first = other.append(one('b'));
    await server.held(fault);
    await server.moveClock(stepMs);
    await server.mend(fault);
    await first;
    await expectAll(store, ['a', 'b']);
  });

  test('while an insert is on its way leaves it behind what its program had stored', async () => {
    const { server, shared } = await place();
    const store = await shared.open();
    await store.append(one('a'));
    const fault = await server.break({ kind: 'hold', at: 'before', matching: INSERT, times: 1 });
    const slow = store.append(one('b'));
    await server.held(fault);
    await server.moveClock(stepMs);
    await server.mend(fault);
    await slow;
    await store.append(one('c'));
    await expectAll(store, ['a', 'b', 'c']);
  });

  test('between the statements of an answer lets in nothing that is stored meanwhile', async () => {
    const { server, shared } = await place();
    const [store, other] = [await shared.open(), await shared.open()];
    await store.append(one('a'));
    const fault = await server.break({ kind: 'hold', at: 'before', matching: 'GROUPING SETS', times: 1 });
    const asking = store.explore(QUESTION);
    await server.held(fault);
    await server.moveClock(stepMs);
    await other.append(one('b'));
    await everythingIn(other);
    await server.mend(fault);
    const { facets, page } = await explored(await asking);
    expect([facets?.[0]?.values[0]?.count, page.total]).toEqual([1, 1]);
    await expectAll(store, ['a', 'b']);
  });
});

test('a step of minutes is found by a program that starts after all others were killed', async () => {
  const { server, shared } = await place();
  const killed = [await shared.open(), await shared.open()];
  for (const [index, store] of killed.entries()) await store.append(one(`${index}`));
  const cursors = await Promise.all(killed.map(cursorOf));
  await kill(server, killed);
  await server.moveClock(-600 * SECOND);
  const after = await shared.open();
  await after.append(one('later'));
  await expectAll(after, ['0', '1', 'later']);
  for (const cursor of cursors) expect(await behind(after, cursor)).toEqual(['later']);
});

describe.each(FEW_STEPS)('a clock that steps by %d ms where nobody reads', (stepMs) => {
  test.each(['is stopped', 'is killed'])('hides nothing from a program that starts after the one that stored it %s', async (how) => {
    const { server, shared } = await place();
    const before = await shared.open();
    await before.append(one('a'));
    await (how === 'is stopped' ? before.close() : kill(server, [before]));
    await server.moveClock(stepMs);
    await expectAll(await shared.open(), ['a']);
  });
});

test('a clock that steps again and again, both ways, leaves the order in which batches were acknowledged', async () => {
  const { server, shared } = await place();
  const [store, other] = [await shared.open(), await shared.open()];
  const cursor = await cursorOf(store);
  const logIds: string[] = [];
  for (const seconds of [-600, 0, -86_400, 86_400, -3, -0.1, 600, 0]) {
    await server.moveClock(seconds * SECOND);
    logIds.push(String(logIds.length));
    await (logIds.length % 2 === 0 ? store : other).append(one(logIds.at(-1) as string));
    expect(await behind(logIds.length % 3 === 0 ? store : other, cursor)).toEqual(logIds);
  }
  await expectAll(await shared.open(), logIds);
});

test('what was on its way while the clock stepped back and comes below what readers have is counted, and told', async () => {
  const { server, shared } = await place();
  const { lines, logger } = told();
  const way = await BreakableProxy.open(server.url);
  onTestFinished(() => way.close());
  const onItsWay = way.faults.add({ kind: 'hold', at: 'before', matching: INSERT, times: 1 });
  const [store, other] = [await shared.open({ logger }), await shared.open({}, way.url)];
  const late = other.append(one('late'));
  await way.faults.held(onItsWay, 1);
  const cursor = await cursorOf(store);
  await server.moveClock(-600 * SECOND);
  const running = await server.break({ kind: 'hold', at: 'inside', matching: INSERT, times: 1 });
  way.faults.release(onItsWay);
  await server.held(running);
  await store.stats();
  await server.mend(running);
  await late;
  expect(await store.stats()).toMatchObject({ lateEvents: 1 });
  expect(await behind(store, cursor)).toEqual([]);
  expect((await everythingIn(store)).total).toBe(1);
  expect(lines).toEqual([
    'the clock of ClickHouse has stepped back: the time of the store is ahead of it from now on',
    'readers of the feed miss 1 events, during whose inserts a clock of ClickHouse stepped back',
  ]);
});

describe('a cursor', () => {
  /** One that is ahead of what a store has by so many seconds when it is made. */
  async function cursorAhead({ positions }: ClickhouseStore, seconds: number): Promise<string> {
    const newest = await positions.newest();
    return positions.encode(positions.advance(newest, { sequence: sequenceAt(newest) + BigInt(seconds * 1e6 * WRITERS) }));
  }

  test.each([5, 14])('%i s ahead waits for the time of the store', async (seconds) => {
    const { server, shared } = await place();
    const store = await shared.open();
    await store.append(one('a'));
    let cursor = '';
    // On a busy machine the seconds may be over before all has been asked.
    await eventually('a cursor to be read behind while it is ahead', async () => {
      const madeAt = performance.now();
      cursor = await cursorAhead(store, seconds);
      const after = (await store.positions.decode(cursor)) as FeedPosition;
      const page = await store.readFeed({ zones: 'all', after, limit: 10 });
      if (performance.now() - madeAt >= seconds * SECOND) return false;
      expect([page.lines, page.more, store.positions.encode(page.end)]).toEqual([[], false, cursor]);
      return true;
    });
    await server.moveClock(seconds * SECOND);
    await store.append(one('b'));
    expect(await behind(store, cursor)).toEqual(['b']);
  });

  test.each([16, 3_600])('%i s ahead is refused, with one to go on with', async (seconds) => {
    const { shared } = await place();
    const store = await shared.open();
    await store.append(one('a'));
    const refused: CursorAhead[] = [];
    await eventually('a cursor to be decoded within a second', async () => {
      const position = await store.positions.decode(await cursorAhead(store, seconds));
      return position instanceof CursorAhead && refused.push(position) > 0;
    });
    await store.append(one('b'));
    expect(ids(await readFeed(store, refused[0]?.goesOnAfter))).toEqual(['b']);
  });
});

describe('the clock of a program', () => {
  test.each([-9 * 60, 9 * 60])('that is %i s off is told, and changes no answer', async (seconds) => {
    const { shared } = await place();
    const [store, other] = [await shared.open({ now: () => Date.now() + seconds * SECOND }), await shared.open({ now: Date.now })];
    await store.append(one('a'));
    await other.append(one('b'));
    await store.append(one('c'));
    for (const program of [store, other]) await expectAll(program, ['a', 'b', 'c']);
    const which = seconds > 0 ? 'ahead of' : 'behind';
    const told = new RegExp(`^the clock of this program is 5[34]\\d s ${which} that of ClickHouse; allowed: 10 s$`);
    expect(store.notes()).toContainEqual(expect.stringMatching(told));
    expect(other.notes()).not.toContainEqual(expect.stringMatching('^the clock'));
  });

  test.each([
    [10, []],
    [-10, []],
    [11, [expect.stringMatching(/^the clock of this program is 11 s ahead of/)]],
    [-11, [expect.stringMatching(/^the clock of this program is 11 s behind/)]],
  ])('that is %i s off is told from ten seconds on', async (seconds, notes) => {
    const { shared } = await place();
    const store = await shared.open({ now: () => Date.now() + seconds * SECOND });
    // A read that took long tells less of it.
    await eventually('a quick read of the clock', async () => {
      await store.append(one('a'));
      return JSON.stringify(store.notes()).includes(' 11 s ') === notes.length > 0;
    });
    expect(store.notes()).toEqual(notes);
  });

  test('and that of ClickHouse both have to be past the retention before a day is dropped', async () => {
    const { server, shared } = await place();
    const { now } = Date;
    const days = (count: number) => canonicalBatch([event(`${count}`, now() - count * DAY)]);
    const kept = { retentionMs: DAY };
    const store = await shared.open({ ...kept, now });
    for (const count of [0, 0.1, 3, 6]) await store.append(days(count));
    await shared.open({ ...kept, now: () => now() + 5 * DAY }, undefined, SWEEPING);
    const stored = async () => Number((await shared.rows('SELECT count() FROM events_local'))[0]?.[0]);
    await eventually('the days to be dropped that are past it by both', async () => (await stored()) === 2);
    await store.append(days(3));
    await server.moveClock(5 * DAY);
    await shared.open({ ...kept, now }, undefined, SWEEPING);
    await eventually('the day to be dropped that is past it by both, and no other', async () => (await stored()) === 2);
  });
});

describe('where the table of the clock cannot be written', () => {
  const full = {
    kind: 'refuse',
    code: 243,
    name: 'NOT_ENOUGH_SPACE',
    message: 'no space left',
    matching: '^INSERT INTO store_clock',
  } as const;

  test('the feed waits ten seconds after what is written down, and goes on by itself', async () => {
    const { server, shared } = await place();
    const { lines, logger } = told();
    const store = await shared.open({ logger });
    await store.append(one('a'));
    const cursor = await cursorOf(store);
    const fault = await server.break(full);
    await server.moveClock(600 * SECOND);
    await store.append(one('b'));
    expect(await behind(store, cursor)).toEqual([]);
    expect(await behind(store, cursor)).toEqual([]);
    expect(lines).toEqual(['the time of the store cannot be written down: the feed waits until it can']);
    await server.mend(fault);
    expect(await behind(store, cursor)).toEqual(['b']);
  });

  test('a step back fails what needs the time, and nothing is out of order', async () => {
    const { server, shared } = await place();
    const store = await shared.open();
    await store.append(one('a'));
    const fault = await server.break(full);
    await server.moveClock(-600 * SECOND);
    await expect(store.append(one('b'))).rejects.toThrow('no space left');
    await expect(readFeed(store)).rejects.toThrow('no space left');
    await server.mend(fault);
    await store.append(one('b'));
    await expectAll(store, ['a', 'b']);
  });
});

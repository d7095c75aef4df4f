import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MainThreadTurns } from '../../work/main-thread-turns.ts';

/** Turns by a clock that only work moves, and in which turn of the event loop each piece of work was done. */
function turnsUnderTest() {
  const clock = { ms: 0 };
  const loop = { turn: 0, isOver: false };
  void (async () => {
    for (; !loop.isOver; loop.turn += 1) await nextTurn();
  })();
  const turns = new MainThreadTurns(() => clock.ms);
  const done: { readonly name: string; readonly turn: number }[] = [];
  const work = async (name: string, ms: number, pieces: number, isAnother = false): Promise<void> => {
    for (let piece = 0; piece < pieces; piece += 1) {
      const one = await (isAnother ? turns.beginAnother() : turns.begin());
      clock.ms += ms;
      one.end();
      done.push({ name, turn: loop.turn });
    }
  };
  const perTurn = () => [...Map.groupBy(done, ({ turn }) => turn).values()].map((some) => some.map(({ name }) => name).join(''));
  const stop = (): void => {
    loop.isOver = true;
  };
  return { turns, clock, work, perTurn, stop };
}

test('short work goes on in the same turn until ten milliseconds are spent, whoever spent them', async () => {
  const { work, perTurn, stop } = turnsUnderTest();
  await Promise.all([work('a', 4, 3), work('b', 4, 3)]);
  stop();
  for (const some of perTurn()) expect(some.length).toBeLessThanOrEqual(3);
  expect(perTurn().join('').length).toBe(6);
});

test('of sixteen jobs whose work is long, one is done in a turn, each in its turn', async () => {
  const { work, perTurn, stop } = turnsUnderTest();
  const names = [...'abcdefghijklmnop'];
  await Promise.all(names.map((name) => work(name, 40, 2)));
  stop();
  expect(perTurn().every((some) => some.length === 1)).toBe(true);
  expect(perTurn().join('')).toBe(`${names.join('')}${names.join('')}`);
});

test('another turn is another one, however little was done', async () => {
  const { work, perTurn, stop } = turnsUnderTest();
  await Promise.all([work('a', 0, 3, true), work('b', 0, 3, true)]);
  stop();
  expect(perTurn()).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
});

test('work is long after half a turn, and counts once', async () => {
  const { turns, clock, stop } = turnsUnderTest();
  const work = await turns.begin();
  clock.ms += 4;
  expect(work.isLong()).toBe(false);
  clock.ms += 1;
  expect(work.isLong()).toBe(true);
  work.end();
  work.end();
  let isThere = false;
  void turns.begin().then(() => {
    isThere = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  expect(isThere).toBe(true);
  stop();
});

test('the steps of two jobs are done in turns that they share, and a step that fails ends its job alone', async () => {
  const { turns, clock, stop } = turnsUnderTest();
  const done: string[] = [];
  function* steps(name: string, failsAt = Number.POSITIVE_INFINITY): Generator<void, void> {
    for (let step = 1; step <= 3; step += 1) {
      clock.ms += 5;
      if (step === failsAt) throw new Error(name);
      done.push(`${name}${step}`);
      yield;
    }
  }
  const ends = await Promise.allSettled([turns.runSteps(steps('a')), turns.runSteps(steps('b', 2)), turns.runSteps(steps('c'))]);
  stop();
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'c3']);
});

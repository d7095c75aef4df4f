import { afterEach, expect, test } from 'vitest';
import { type StreamTurn, takeTurn } from '../../../web/live/stream-turn.ts';

class ShownTab extends EventTarget {
  hidden = false;

  show(isShown: boolean): void {
    this.hidden = !isShown;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

const turns: StreamTurn[] = [];
let stop = new AbortController();

afterEach(() => {
  stop.abort();
  stop = new AbortController();
  for (const turn of turns.splice(0)) turn.end();
});

interface Taken {
  readonly tab: ShownTab;
  readonly turn: Promise<StreamTurn>;
  readonly waits: () => number;
  readonly hasTurn: () => boolean;
}

/** `isShared`: the streams of all tabs share a connection. */
function take({ tab = new ShownTab(), isShared = false, hiddenMs = 0 } = {}): Taken {
  let waits = 0;
  let hasTurn = false;
  const turn = takeTurn({
    tab: tab as never,
    locks: isShared ? null : navigator.locks,
    onWait: () => {
      waits += 1;
    },
    signal: stop.signal,
    hiddenMs,
  });
  turn.then(
    (taken) => {
      hasTurn = true;
      turns.push(taken);
    },
    () => {},
  );
  return { tab, turn, waits: () => waits, hasTurn: () => hasTurn };
}

test('four tabs have a turn; a fifth says that it waits, and has one when any of them ends', async () => {
  const four = [take(), take(), take(), take()];
  const held = await Promise.all(four.map(({ turn }) => turn));
  const [fifth, sixth] = [take(), take()];
  await expect.poll(() => [fifth.waits(), sixth.waits()]).toEqual([1, 1]);
  held[2]?.end();
  await expect.poll(() => [fifth.hasTurn(), sixth.hasTurn()].filter(Boolean).length).toBe(1);
  held[0]?.end();
  await Promise.all([fifth.turn, sixth.turn]);
  expect(four.map(({ waits }) => waits())).toEqual([0, 0, 0, 0]);
});

test('two locks that are given back at once are two turns', async () => {
  const held = await Promise.all([take(), take(), take(), take()].map(({ turn }) => turn));
  const fifth = take();
  await expect.poll(fifth.waits).toBe(1);
  for (const turn of held) turn.end();
  await Promise.all([fifth.turn, ...[take(), take(), take()].map(({ turn }) => turn)]);
});

test('tabs whose streams share a connection do not wait for each other', async () => {
  const many = Array.from({ length: 9 }, () => take({ isShared: true }));
  await Promise.all(many.map(({ turn }) => turn));
  expect(many.map(({ waits }) => waits())).toEqual(many.map(() => 0));
});

test('a turn is over when the tab stays hidden, and not when it is seen again before', async () => {
  const [leaving, returning] = [take(), take({ hiddenMs: 3_600_000 })];
  const [left, kept] = await Promise.all([leaving.turn, returning.turn]);
  for (const { tab } of [leaving, returning]) tab.show(false);
  returning.tab.show(true);
  await expect.poll(() => left.signal.aborted).toBe(true);
  expect(kept.signal.aborted).toBe(false);
});

test('a hidden tab takes no turn until it is seen, and gives up its place among those that wait', async () => {
  const hidden = new ShownTab();
  hidden.hidden = true;
  const first = take({ tab: hidden });
  const four = await Promise.all([take(), take(), take(), take()].map(({ turn }) => turn));
  expect([first.hasTurn(), first.waits()]).toEqual([false, 0]);
  hidden.show(true);
  await expect.poll(first.waits).toBe(1);
  hidden.show(false);
  const next = take();
  await expect.poll(next.waits).toBe(1);
  four[1]?.end();
  await next.turn;
  expect(first.hasTurn()).toBe(false);
  hidden.show(true);
  await expect.poll(first.waits).toBe(2);
});

test.each(['hidden', 'waiting', 'open'])('where nothing is to be watched any more, a tab that is %s ends', async (state) => {
  const tab = new ShownTab();
  tab.hidden = state === 'hidden';
  if (state === 'waiting') await Promise.all([take(), take(), take(), take()].map(({ turn }) => turn));
  const { turn, waits } = take({ tab });
  if (state === 'waiting') await expect.poll(waits).toBe(1);
  const taken = state === 'open' ? await turn : null;
  stop.abort(new Error('no more'));
  if (taken === null) await expect(turn).rejects.toThrow('no more');
  else expect(taken.signal.aborted).toBe(true);
});

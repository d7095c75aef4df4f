import { expect, test } from 'vitest';
import { QuietMoments } from '../../store/quiet-moments.ts';

const QUIET_MS = 5;
const PATIENCE_MS = 100;

/** Whoever rests here moves the clock forward by that; `meanwhile` is done in each rest. */
function quietMoments(meanwhile: (rests: number) => void = () => {}) {
  const clock = { ms: 0, rests: 0 };
  const rest = (ms: number) => {
    clock.ms += ms;
    clock.rests += 1;
    meanwhile(clock.rests);
    return Promise.resolve();
  };
  return { clock, quiet: new QuietMoments({ quietMs: QUIET_MS, now: () => clock.ms, rest }) };
}

/** A search that goes on until it is ended. */
function beginSearch(quiet: QuietMoments): { end: () => void; readonly ended: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, ended: quiet.duringSearch(() => promise) };
}

const { signal } = new AbortController();

test('where nobody has searched the moment is now', async () => {
  const { clock, quiet } = quietMoments();
  await quiet.waiting(PATIENCE_MS)(signal);
  expect(clock.rests).toBe(0);
});

test('a search that has just ended is waited out, one that failed too', async () => {
  const { clock, quiet } = quietMoments();
  await quiet.duringSearch(() => Promise.resolve());
  await quiet.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(QUIET_MS);
  await expect(quiet.duringSearch(() => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
  await quiet.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(2 * QUIET_MS);
});

test('while any search is under way there is no such moment', async () => {
  const searches: ReturnType<typeof beginSearch>[] = [];
  const { clock, quiet } = quietMoments((rests) => {
    if (rests === 3 || rests === 6) {
      searches[rests / 3 - 1]?.end();
    }
  });
  searches.push(beginSearch(quiet), beginSearch(quiet));
  const waiting = quiet.waiting(PATIENCE_MS)(signal);
  await Promise.all([waiting, ...searches.map(({ ended }) => ended)]);
  expect(clock.rests).toBeGreaterThan(6);
});

test('where somebody always searches the steps of one piece of work wait only so long in all, and another piece of work waits again', async () => {
  const { clock, quiet } = quietMoments();
  const search = beginSearch(quiet);
  const moment = quiet.waiting(PATIENCE_MS);
  await moment(signal);
  expect(clock.ms).toBe(PATIENCE_MS);
  await moment(signal);
  expect(clock.ms).toBe(PATIENCE_MS);
  await quiet.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(2 * PATIENCE_MS);
  search.end();
  await search.ended;
});

test('work that is given up waits no longer', async () => {
  const giveUp = new AbortController();
  const { clock, quiet } = quietMoments((rests) => {
    if (rests === 2) {
      giveUp.abort();
    }
  });
  const search = beginSearch(quiet);
  await quiet.waiting(PATIENCE_MS)(giveUp.signal);
  expect(clock.rests).toBe(2);
  search.end();
  await search.ended;
});

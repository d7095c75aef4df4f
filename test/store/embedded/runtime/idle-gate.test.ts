import { expect, test } from 'vitest';
import { IdleGate } from '../../../../store/embedded/runtime/idle-gate.ts';
import { SearchActivity } from '../../../../store/embedded/runtime/search-activity.ts';
import { beginSearch } from '../search/begin-search.ts';

const IDLE_MS = 5;
const PATIENCE_MS = 100;

/** Whoever rests here moves the clock forward by that, or so many times as much; `meanwhile` is done in each rest. */
function idleGate(meanwhile: (rests: number) => void = () => {}, slowness = 1) {
  const clock = { ms: 0, rests: 0 };
  const rest = (ms: number) => {
    clock.ms += slowness * ms;
    clock.rests += 1;
    meanwhile(clock.rests);
    return Promise.resolve();
  };
  const searches = new SearchActivity(() => clock.ms);
  return { clock, searches, gate: new IdleGate({ searches, idleMs: IDLE_MS, rest }) };
}

const { signal } = new AbortController();

test('where nobody has searched the moment is now', async () => {
  const { clock, gate } = idleGate();
  await gate.waiting(PATIENCE_MS)(signal);
  expect(clock.rests).toBe(0);
});

test('a search that has just ended is waited out, one that failed too', async () => {
  const { clock, searches, gate } = idleGate();
  await searches.during(() => Promise.resolve());
  await gate.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(IDLE_MS);
  await expect(searches.during(() => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
  await gate.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(2 * IDLE_MS);
});

test('while any search is under way there is no such moment', async () => {
  const begun: ReturnType<typeof beginSearch>[] = [];
  const { clock, searches, gate } = idleGate((rests) => {
    if (rests === 3 || rests === 6) {
      begun[rests / 3 - 1]?.end();
    }
  });
  begun.push(beginSearch(searches), beginSearch(searches));
  const waiting = gate.waiting(PATIENCE_MS)(signal);
  await Promise.all([waiting, ...begun.map(({ ended }) => ended)]);
  expect(clock.rests).toBeGreaterThan(6);
});

test('where somebody always searches the steps of one piece of work wait only so long in all, and another piece of work waits again', async () => {
  const { clock, searches, gate } = idleGate();
  const search = beginSearch(searches);
  const moment = gate.waiting(PATIENCE_MS);
  await moment(signal);
  expect(clock.ms).toBe(PATIENCE_MS);
  await moment(signal);
  expect(clock.ms).toBe(PATIENCE_MS);
  await gate.waiting(PATIENCE_MS)(signal);
  expect(clock.ms).toBe(2 * PATIENCE_MS);
  search.end();
  await search.ended;
});

test('on a thread that is busy, too: what counts is how long the rests took', async () => {
  const { clock, searches, gate } = idleGate(undefined, 10);
  const search = beginSearch(searches);
  await gate.waiting(PATIENCE_MS)(signal);
  expect([clock.ms, clock.rests]).toEqual([PATIENCE_MS, PATIENCE_MS / (10 * IDLE_MS)]);
  search.end();
  await search.ended;
});

test('work that is given up waits no longer', async () => {
  const giveUp = new AbortController();
  const { clock, searches, gate } = idleGate((rests) => {
    if (rests === 2) {
      giveUp.abort();
    }
  });
  const search = beginSearch(searches);
  await gate.waiting(PATIENCE_MS)(giveUp.signal);
  expect(clock.rests).toBe(2);
  search.end();
  await search.ended;
});

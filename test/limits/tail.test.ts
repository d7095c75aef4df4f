import { afterEach, beforeEach, expect } from 'vitest';
import { MAX_UNREAD_HEARTBEATS, TAIL_LIMITS, TAIL_WORK } from '../../src/tail/tail-limits.ts';
import { WorkAllowance } from '../../src/tail/tail-work.ts';
import { type RunningApp, startApp } from '../src/running-app.ts';
import { tailPath } from '../src/tail/tail-client.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf } from './limit-table.ts';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

/** Opens so many tails, one after the other; what the last of them ended in. All of them end then. */
async function tails(amount: number, search: object = {}): Promise<string> {
  const done = new AbortController();
  // An answer that nobody holds is collected, and its connection closed.
  const held: Response[] = [];
  let outcome = 'ok';
  while (held.length < amount) {
    const headers = { accept: 'text/event-stream' };
    const response = await fetch(`${app.url}${tailPath({ search })}`, { headers, signal: done.signal });
    held.push(response);
    if (!response.ok) outcome = outcomeOf({ status: response.status, text: await response.text() });
  }
  done.abort();
  await expect.poll(async () => (await fetch(`${app.url}/metrics`)).text()).toContain('shieldlog_tail_watchers 0\n');
  return outcome;
}

describeLimits('Tail', import.meta.filename, {
  'tails at a time': { is: count(TAIL_LIMITS.maxWatchers), ask: tails },
  'times that the conditions look through one field': {
    is: count(TAIL_WORK.scans),
    ask: (scans) => {
      const value = Array.from({ length: scans }, (_, index) => `*a${index}*b`);
      return tails(1, { filters: [{ field: 'url', op: 'wildcard', value }] });
    },
  },
  'characters that are looked through for one event': {
    is: count(TAIL_WORK.perEvent),
    elsewhere: 'an event that costs a tail too much is left out, and others are not',
  },
  'characters that are looked through in a second, for all tails': {
    is: count(TAIL_WORK.perSecond),
    elsewhere: 'a tail that costs more than its share is told how many events it missed, gets later ones, and all when it comes back',
  },
  'time that a tail saves up its part for': {
    is: milliseconds(TAIL_WORK.burstSeconds * 1_000),
    ask: async (ms) => {
      const allowance = new WorkAllowance();
      // In a second as much as a second has milliseconds: what is left says how long it was saved.
      allowance.spend(allowance.left(1_000, 0));
      const left = allowance.left(1_000, ms);
      return left === ms ? 'ok' : `taken as ${left / 1_000} s`;
    },
  },
  'bytes that a client has not read': {
    is: bytes(TAIL_LIMITS.maxBufferedBytes),
    elsewhere: 'a client that does not read > loses events, is told how many when it reads again, and keeps nobody waiting',
  },
  'signs of life between which a client reads nothing': {
    is: count(MAX_UNREAD_HEARTBEATS),
    elsewhere: 'a client that reads nothing between four of them is',
  },
});

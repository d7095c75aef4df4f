import { expect, test } from 'vitest';
import { StopOverdue, type StopStep, stopAll } from '../../src/stop-all.ts';

/** Far enough that no machine is too slow for it. */
const FAR_MS = 600_000;
const limits = { graceMs: FAR_MS, deadlineMs: FAR_MS };

function step(name: string, notes: string[], stop: StopStep['stop'] = async () => {}): StopStep {
  return {
    name: () => name,
    stop: async (hurry) => {
      notes.push(`${name} begins`);
      await stop(hurry);
      notes.push(`${name} ends`);
    },
  };
}

const never = (): Promise<void> => new Promise(() => {});
const untilHurried = (hurry: AbortSignal): Promise<void> => new Promise((resolve) => hurry.addEventListener('abort', () => resolve()));

test('the steps of a stage are stopped together, and the next stage after them', async () => {
  const notes: string[] = [];
  const gate = Promise.withResolvers<void>();
  const [a, b, c] = [step('a', notes, () => gate.promise), step('b', notes, async () => gate.resolve()), step('c', notes)];
  await stopAll([[a, b], [], [c]], limits);
  expect(notes.slice(0, 2)).toEqual(['a begins', 'b begins']);
  expect(notes.slice(-2)).toEqual(['c begins', 'c ends']);
});

test('a step that fails keeps none of the others from being stopped, and its error comes back', async () => {
  const notes: string[] = [];
  const fails = step('fails', notes, () => Promise.reject(new Error('no')));
  await expect(stopAll([[fails, step('beside', notes)], [step('behind', notes)]], limits)).rejects.toThrow('no');
  expect(notes).toContain('behind ends');
});

test('what is under way is told to hurry after the grace', async () => {
  const notes: string[] = [];
  await stopAll([[step('a', notes, untilHurried)], [step('b', notes)]], { ...limits, graceMs: 1 });
  expect(notes.at(-1)).toBe('b ends');
});

test('what hangs past the deadline is named as it is then, and what has not begun is not', async () => {
  const notes: string[] = [];
  let doing = 'beginning';
  const flush = (): Promise<void> => {
    doing = 'flushing';
    return never();
  };
  const store: StopStep = { name: () => `the store: ${doing}`, stop: flush };
  const stages = [[step('quick', notes)], [store, step('broker', notes, never)], [step('later', notes)]];
  const overdue = stopAll(stages, { graceMs: 1, deadlineMs: 1500 });
  await expect(overdue).rejects.toThrow(StopOverdue);
  await expect(overdue).rejects.toThrow(/^the stop was not finished within 1\.5 s; it still waited for the store: flushing and broker$/);
  expect(notes).not.toContain('later begins');
});

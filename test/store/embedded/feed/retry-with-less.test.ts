import { expect, test } from 'vitest';
import { retryWithLess } from '../../../../store/embedded/feed/retry-with-less.ts';

/** Work with one outcome for each time that it is done, and the list of what happened. */
function workEnding(...outcomes: readonly (Error | string)[]) {
  const steps: string[] = [];
  const work = (): Promise<string> => {
    const outcome = outcomes[steps.filter((step) => step === 'work').length] ?? 'never';
    steps.push('work');
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  const evictCaches = (): Promise<void> => {
    steps.push('evict');
    return Promise.resolve();
  };
  return { steps, done: () => retryWithLess(work, evictCaches, 'too little memory for this') };
}

const outOfMemory = new Error('Out of Memory Error: failed to allocate');
const other = new Error('no such file');

test('what succeeds is done once, and no cache is evicted', async () => {
  const { steps, done } = workEnding('an answer');
  expect(await done()).toBe('an answer');
  expect(steps).toEqual(['work']);
});

test('what runs out of memory is done once more after the caches were evicted', async () => {
  const { steps, done } = workEnding(outOfMemory, 'an answer');
  expect(await done()).toBe('an answer');
  expect(steps).toEqual(['work', 'evict', 'work']);
});

test('what runs out of memory twice is refused as overloaded', async () => {
  const { steps, done } = workEnding(outOfMemory, outOfMemory);
  await expect(done()).rejects.toMatchObject({ code: 'overloaded', message: 'too little memory for this', cause: outOfMemory });
  expect(steps).toEqual(['work', 'evict', 'work']);
});

test.each([
  ['at first', [other], ['work']],
  ['with less', [outOfMemory, other], ['work', 'evict', 'work']],
])('any other error %s is passed on as it is', async (_, outcomes, expected) => {
  const { steps, done } = workEnding(...outcomes);
  await expect(done()).rejects.toBe(other);
  expect(steps).toEqual(expected);
});

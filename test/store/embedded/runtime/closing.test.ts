import { expect, test } from 'vitest';
import { Closing } from '../../../../store/embedded/runtime/closing.ts';

test('what was opened last is closed first, and each step has ended when the next one begins', async () => {
  const closing = new Closing();
  const seen: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    closing.add(name, async () => {
      seen.push(`${closing.waitsFor} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
    });
  }
  await closing.close();
  expect(seen).toEqual(['third begins', 'third ends', 'second begins', 'second ends', 'first begins', 'first ends']);
  await closing.close();
  expect(seen).toHaveLength(6);
});

test('a step that fails keeps none of the others from being closed, and the first error is told', async () => {
  const closing = new Closing();
  const closed: string[] = [];
  const failing = (name: string) => () => {
    closed.push(name);
    throw new Error(name);
  };
  closing.add('a', () => closed.push('a'));
  closing.add('b', failing('b'));
  closing.add('c', async () => failing('c')());
  await expect(closing.close()).rejects.toThrow('c');
  expect(closed).toEqual(['c', 'b', 'a']);
});

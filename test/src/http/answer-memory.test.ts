import { describe, expect, test } from 'vitest';
import { AnswerMemory } from '../../../src/http/answer-memory.ts';

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;

const part = (bytes: number, isLast = false) => ({ bytes, isLast });

/** Parts that are being read one by one, of which the first is in memory. */
async function reader(memory: AnswerMemory, sizes: readonly number[], signal = NEVER) {
  const left = memory.hold(
    sizes.map((bytes, index) => part(bytes, index === sizes.length - 1)),
    signal,
  );
  const { value } = await left.next();
  expect(value?.bytes).toBe(sizes[0]);
  return left;
}

/** Whether the promise has settled once all that can happen by itself has happened. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, pending))])) !== pending;
}

describe('the first part of an answer', () => {
  test('that does not fit is refused, a smaller one is given, and room comes back', async () => {
    const memory = new AnswerMemory(40 * MIB);
    const other = await reader(memory, [32 * MIB, MIB]);
    await expect(memory.hold([part(32 * MIB)], NEVER).next()).rejects.toMatchObject({
      errorKey: 'store.busy',
      headers: { 'retry-after': '5' },
    });
    await (await reader(memory, [4 * MIB])).return();
    await other.return();
    await reader(memory, [32 * MIB]);
  });

  test('is given where it is alone, however large it is', async () => {
    const memory = new AnswerMemory(MIB);
    await (await reader(memory, [64 * MIB])).return();
    await reader(memory, [64 * MIB]);
  });

  test('is given where it is small, also where those that nobody takes use up the memory', async () => {
    const memory = new AnswerMemory(MIB);
    await reader(memory, [64 * MIB]);
    await reader(memory, [MIB / 4]);
    await expect(memory.hold([part(MIB / 4 + 1)], NEVER).next()).rejects.toMatchObject({ errorKey: 'store.busy' });
  });
});

describe('a later part', () => {
  test('is not read before there is room for the largest, in the order in which readers came', async () => {
    const memory = new AnswerMemory(10 * MIB);
    const other = await reader(memory, [8 * MIB]);
    const [first, second] = [await reader(memory, [MIB, MIB, MIB]), await reader(memory, [MIB, MIB, MIB])];
    const waiting = [first.next(), second.next()];
    expect(await hasSettled(Promise.race(waiting))).toBe(false);
    await other.return();
    expect(await Promise.all(waiting)).toMatchObject([{ value: { bytes: MIB } }, { value: { bytes: MIB } }]);
  });

  test('is not waited for where there is none', async () => {
    const memory = new AnswerMemory(10 * MIB);
    await reader(memory, [16 * MIB]);
    expect(await (await reader(memory, [MIB / 4])).next()).toEqual({ value: undefined, done: true });
  });

  test('is waited for until the signal aborts', async () => {
    const memory = new AnswerMemory(10 * MIB);
    await reader(memory, [8 * MIB]);
    const stop = new AbortController();
    const next = (await reader(memory, [MIB, MIB], stop.signal)).next();
    const reason = new Error('gone');
    expect(await hasSettled(next)).toBe(false);
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
    const late = await reader(memory, [MIB, MIB], stop.signal);
    await expect(late.next()).rejects.toBe(reason);
  });
});

import { expect, test } from 'vitest';
import { PageMemory } from '../../../src/feed/page-memory.ts';

/** A wait that never ends fails, so that the test does not hang. */
async function page(memory: PageMemory, bytes: number, signal = AbortSignal.timeout(20_000)) {
  const held = await memory.reserve<string>(bytes, signal);
  held.keep('page', bytes);
  return held;
}

test('a page that has no room waits until another one is given back', async () => {
  const memory = new PageMemory(100);
  const first = await page(memory, 60);
  let isThere = false;
  const second = page(memory, 60).then((held) => {
    isThere = true;
    return held;
  });
  // Fits, but comes after the one that waits.
  const third = page(memory, 40);
  await new Promise(setImmediate);
  expect([isThere, first.value]).toEqual([false, 'page']);
  first.release();
  expect((await second).value).toBe('page');
  expect((await third).value).toBe('page');
});

test('the page whose reader takes nothing is given up for another; the one whose reader takes some is not', async () => {
  const memory = new PageMemory(100);
  const stalled = await page(memory, 50);
  const read = await page(memory, 50);
  const reading = setInterval(() => read.touch(), 20);
  try {
    expect((await page(memory, 50)).value).toBe('page');
  } finally {
    clearInterval(reading);
  }
  expect([stalled.value, read.value]).toEqual([undefined, 'page']);
});

test('what a page turns out to take is counted, and a page larger than all the memory has its turn when it is alone', async () => {
  const memory = new PageMemory(100);
  const large = await memory.reserve<string>(10, new AbortController().signal);
  large.keep('large', 1_000);
  const gone = new AbortController();
  let isThere = false;
  const refused = page(memory, 10, gone.signal).finally(() => {
    isThere = true;
  });
  await new Promise(setImmediate);
  expect(isThere).toBe(false);
  gone.abort(new Error('the reader went away'));
  await expect(refused).rejects.toThrow('the reader went away');
  large.release();
  expect((await page(memory, 500)).value).toBe('page');
});

test('memory for a page that was never made is given back', async () => {
  const memory = new PageMemory(100);
  const failed = await memory.reserve<string>(100, new AbortController().signal);
  failed.release();
  expect((await page(memory, 100)).value).toBe('page');
});

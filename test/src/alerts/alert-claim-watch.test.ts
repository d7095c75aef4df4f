import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchAlertClaim } from '../../../src/alerts/alert-claim-watch.ts';
import { CLAIM_EXPIRES_MS, type HeldClaim, silentLogger } from '../../../store/event-store.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

const ANSWERS = {
  success: null,
  another: { id: 'another', program: 'another program', sinceMs: 0 },
  failure: new Error('the connection is closed'),
} as const satisfies Readonly<Record<string, HeldClaim | Error | null>>;
type Answer = keyof typeof ANSWERS;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A program that got the claim at its start, and whose renewals are answered by the test. */
async function renewing() {
  const asked: PromiseWithResolvers<HeldClaim | null>[] = [];
  let released = 0;
  let isStarted = false;
  const claim = {
    take: async () => {
      if (!isStarted) return null;
      const answer = Promise.withResolvers<HeldClaim | null>();
      asked.push(answer);
      return await answer.promise;
    },
    release: async () => {
      released += 1;
    },
  };
  const watch = await watchAlertClaim({ claim, dataDir: temporaryFolder(), logger: silentLogger });
  isStarted = true;
  /** Answers a renewal, by its place among them. */
  const answer = async (nth: number, kind: Answer) => {
    const said = ANSWERS[kind];
    if (said instanceof Error) asked[nth]?.reject(said);
    else asked[nth]?.resolve(said);
    await turnOfLoop();
  };
  onTestFinished(async () => {
    const stopped = watch.stop();
    for (const { resolve } of asked) resolve(null);
    await stopped;
  });
  return { watch, answer, asked: () => asked.length, released: () => released };
}

test('the next renewal begins 10 seconds behind one that was answered, and 20 behind one that hangs', async () => {
  const { answer, asked } = await renewing();
  const begun: number[] = [];
  for (let atS = 10; atS <= 70; atS += 10) {
    vi.advanceTimersByTime(10_000);
    begun.push(asked());
    if (atS === 10) await answer(0, 'success');
  }
  expect(begun).toEqual([1, 2, 2, 3, 3, 4, 4]);
});

test('a claim whose renewals take 35 seconds each is held all the time, and is lost a minute behind the last that succeeds', async () => {
  const { watch, answer, asked } = await renewing();
  const held: boolean[] = [];
  // They begin at 10, 30, 50 s and so on.
  for (let atS = 5; atS <= 200; atS += 5) {
    vi.advanceTimersByTime(5_000);
    const nth = (atS - 45) / 20;
    if (Number.isInteger(nth) && nth >= 0) await answer(nth, 'success');
    held.push(watch.isHeld());
  }
  expect([asked(), new Set(held)]).toEqual([10, new Set([true])]);
  // The last that was answered began at 150 s.
  vi.advanceTimersByTime(150_000 + CLAIM_EXPIRES_MS - 200_000 - 1);
  expect(watch.isHeld()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(watch.isHeld()).toBe(false);
});

test.each<[late: Answer, later: Answer | 'nothing', isHeld: boolean]>([
  ['success', 'nothing', true],
  ['success', 'failure', true],
  ['success', 'another', false],
  ['another', 'nothing', false],
  ['another', 'failure', false],
  ['another', 'success', true],
  ['failure', 'another', false],
  ['failure', 'success', true],
])('behind a renewal that is answered late by %s, when one that began later was answered by %s, the claim is held: %s', async (...row) => {
  const [late, later, isHeld] = row;
  const { watch, answer } = await renewing();
  // They begin at 10 and 30 s.
  vi.advanceTimersByTime(35_000);
  if (later !== 'nothing') await answer(1, later);
  await answer(0, late);
  vi.advanceTimersByTime(10_000 + CLAIM_EXPIRES_MS - 35_000 - 1);
  expect(watch.isHeld()).toBe(isHeld);
  expect(watch.notes()).toEqual(isHeld ? [] : [expect.stringContaining('this program follows no rules of alerts')]);
});

test('the claim is given back while a renewal hangs, too, and once more behind it, because it may have taken it again', async () => {
  const { watch, answer, released } = await renewing();
  vi.advanceTimersByTime(10_000);
  await watch.stop();
  expect(released()).toBe(1);
  await answer(0, 'success');
  expect(released()).toBe(2);
});

test('the claim is given back once no renewal is under way any more', async () => {
  const { watch, answer, released } = await renewing();
  vi.advanceTimersByTime(35_000);
  const stopped = watch.stop();
  await answer(1, 'success');
  expect(released()).toBe(0);
  await answer(0, 'success');
  await stopped;
  expect(released()).toBe(1);
});

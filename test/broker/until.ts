import { setTimeout as delay } from 'node:timers/promises';
import { TimeLimitError } from '../fixtures/eventually.ts';

/**
 * Asks again and again until the answer satisfies, and returns it. Throws with the last answer when `timeoutMs` (a minute by default) has
 * passed: a generous limit for something that hangs, not a measurement.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  satisfies: (answer: T) => boolean = Boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) {
      return answer;
    }
    if (performance.now() > deadline) {
      throw new TimeLimitError(`waited ${timeoutMs} ms for ${what}; the last answer was ${inspect(answer)}`);
    }
    await delay(20);
  }
}

function inspect(answer: unknown): string {
  return JSON.stringify(answer, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? String(answer);
}

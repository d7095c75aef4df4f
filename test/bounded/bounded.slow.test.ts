import { expect, test } from 'vitest';
import { type BoundedCase, measure } from './bounded-case.ts';
import { FIXED_CASES } from './cases.ts';
import { HELD_BYTES, HELD_LIMIT_MIB, type HeldBytes, measureWhileHeld, UNFINISHED_BODIES } from './held-bytes.ts';
import { faults, summary } from './measures.ts';

/** A collection of garbage, or a processor that is slow for a moment, makes one turn longer: a fault is what is there each time. */
const TRIES = 3;

test.each(Object.keys(FIXED_CASES) as (keyof typeof FIXED_CASES)[])('%s', async (name) => {
  const one: BoundedCase = FIXED_CASES[name];
  let found: readonly string[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { intake, requests } = await measure(one);
    process.stderr.write(`${name}: ${summary(requests)}; intake: ${summary(intake)}\n`);
    found = [...faults(intake).map((fault) => `intake: ${fault}`), ...faults(requests)];
    if (found.length === 0 || !found.every((fault) => /^(intake: )?main thread/.test(fault))) break;
  }
  expect(found).toEqual([]);
});

test.each<readonly [string, HeldBytes]>([...Object.entries(HELD_BYTES), ...Object.entries(UNFINISHED_BODIES)])(
  '%s leave the program within its memory, however many there are',
  async (name, held) => {
    const { peak, outcomes, defects } = await measureWhileHeld(held);
    process.stderr.write(`${name}: memory ${peak.toFixed(0)} MiB of ${HELD_LIMIT_MIB} MiB\n`);
    if (held.isUnfinished === true) expect(defects).toEqual([]);
    expect(peak).toBeLessThan(HELD_LIMIT_MIB);
    // Whoever holds less is let through.
    expect(outcomes.map(({ status }) => status)).toEqual([202, 200]);
  },
);

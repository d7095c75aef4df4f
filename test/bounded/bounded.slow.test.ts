import { expect, test } from 'vitest';
import { type BoundedCase, measure } from './bounded-case.ts';
import { FIXED_CASES } from './cases.ts';
import { HELD_BYTES, HELD_LIMIT_MIB, type HeldBytes, measureWhileHeld, UNFINISHED_BODIES } from './held-bytes.ts';
import { faults, summary } from './measures.ts';

test.each(Object.keys(FIXED_CASES) as (keyof typeof FIXED_CASES)[])('%s', async (name) => {
  const one: BoundedCase = FIXED_CASES[name];
  const { intake, requests } = await measure(one);
  process.stderr.write(`${name}: ${summary(requests)}; intake: ${summary(intake)}\n`);
  expect({ intake: faults(intake), requests: faults(requests) }).toEqual({ intake: [], requests: [] });
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

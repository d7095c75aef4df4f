import { expect, test } from 'vitest';
import { type BoundedCase, measure } from './bounded-case.ts';
import { FIXED_CASES } from './cases.ts';
import { HELD_BYTES, HELD_LIMIT_MIB, memoryWhileHeld } from './held-bytes.ts';
import { faults, summary } from './measures.ts';
import { measureUnfinished, UNFINISHED_BODIES } from './unfinished-bodies.ts';

test.each(Object.keys(FIXED_CASES) as (keyof typeof FIXED_CASES)[])('%s', async (name) => {
  const one: BoundedCase = FIXED_CASES[name];
  const { intake, requests } = await measure(one);
  process.stderr.write(`${name}: ${summary(requests)}; intake: ${summary(intake)}\n`);
  expect({ intake: faults(intake), requests: faults(requests) }).toEqual({ intake: [], requests: [] });
});

test.each(Object.keys(UNFINISHED_BODIES) as (keyof typeof UNFINISHED_BODIES)[])('unfinished: %s', async (name) => {
  const measured = await measureUnfinished(UNFINISHED_BODIES[name]);
  process.stderr.write(`unfinished ${name}: ${summary(measured)}\n`);
  // One turn reads from all of thousands of connections that have sent something, so how long it takes hangs on the load alone.
  expect(faults(measured, ['memory', 'status 500', 'connection', 'interrupt'])).toEqual([]);
  // Whoever holds less is let through.
  expect(measured.outcomes.map(({ status }) => status)).toEqual([202, 200]);
});

test.each(Object.keys(HELD_BYTES) as (keyof typeof HELD_BYTES)[])(
  '%s leave the program within its memory, however many there are',
  async (name) => {
    const peak = await memoryWhileHeld(name);
    process.stderr.write(`${name}: memory ${peak.toFixed(0)} MiB of ${HELD_LIMIT_MIB} MiB\n`);
    expect(peak).toBeLessThan(HELD_LIMIT_MIB);
  },
);

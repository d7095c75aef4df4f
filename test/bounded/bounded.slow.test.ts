import { expect, test } from 'vitest';
import { type BoundedCase, measure } from './bounded-case.ts';
import { FIXED_CASES } from './cases.ts';
import { faults, summary } from './measures.ts';

test.each(Object.keys(FIXED_CASES) as (keyof typeof FIXED_CASES)[])('%s', async (name) => {
  const one: BoundedCase = FIXED_CASES[name];
  const { intake, requests } = await measure(one);
  process.stderr.write(`${name}: ${summary(requests)}; intake: ${summary(intake)}\n`);
  expect({ intake: faults(intake), requests: faults(requests) }).toEqual({ intake: [], requests: [] });
});

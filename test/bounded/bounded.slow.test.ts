import { expect, test } from 'vitest';
import { type BoundedCase, measure } from './bounded-case.ts';
import { CASES_ON_CLICKHOUSE, FIXED_CASES } from './cases.ts';
import { IS_ON_CLICKHOUSE } from './measured-program.ts';
import { faults, summary } from './measures.ts';

/** A collection of garbage, or a processor that is slow for a moment, makes one turn longer: a fault is what is there each time. */
const TRIES = 3;

const CASES: Readonly<Record<string, BoundedCase>> = IS_ON_CLICKHOUSE ? CASES_ON_CLICKHOUSE : FIXED_CASES;

test.each(Object.entries(CASES))('%s', async (name, one) => {
  let found: readonly string[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { intake, requests } = await measure(one);
    process.stderr.write(`${name}: ${summary(requests)}; intake: ${summary(intake)}\n`);
    found = [...faults(intake).map((fault) => `intake: ${fault}`), ...faults(requests)];
    if (found.length === 0 || !found.every((fault) => /^(intake: )?main thread/.test(fault))) break;
  }
  expect(found).toEqual([]);
});

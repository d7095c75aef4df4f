import { expect, test } from 'vitest';
import { HELD_BYTES, HELD_LIMIT_MIB, HELD_ON_CLICKHOUSE, type HeldBytes, measureWhileHeld, UNFINISHED_BODIES } from './held-bytes.ts';
import { IS_ON_CLICKHOUSE } from './measured-program.ts';

const HELD: Readonly<Record<string, HeldBytes>> = IS_ON_CLICKHOUSE ? HELD_ON_CLICKHOUSE : { ...HELD_BYTES, ...UNFINISHED_BODIES };

test.each(Object.entries(HELD))('%s leave the program within its memory, however many there are', async (name, held) => {
  const { peak, outcomes, defects } = await measureWhileHeld(held);
  process.stderr.write(`${name}: memory ${peak.toFixed(0)} MiB of ${HELD_LIMIT_MIB} MiB\n`);
  if (held.isUnfinished === true) expect(defects).toEqual([]);
  expect(peak).toBeLessThan(HELD_LIMIT_MIB);
  // Whoever holds less is let through.
  expect(outcomes.map(({ status }) => status)).toEqual([202, 200]);
});

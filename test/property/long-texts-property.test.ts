import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largestVectors } from '../fixtures/largest-vectors.ts';
import type { TestStore } from '../fixtures/test-store.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { searchOracle } from '../oracle/search-oracle.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { appendEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';
import { answer } from './search-answer.ts';

const RUNS = propertyRuns(3);
const HOUR_MS = 3_600_000;
const MOST_BYTES = 2 * 1024 * 1024;

/** Texts up to longer than what is stored of one. Few differ, so that requests find several. */
const long = fc
  .tuple(fc.constantFrom('x', 'Éa', '🦆'), fc.constantFrom(65_536, 65_537, 70_000, 40_000, 9_000, 2_000))
  .map(([letter, bytes]) => letter.repeat(Math.ceil(bytes / Buffer.byteLength(letter))));
const short = fc.constantFrom('curl/8', '/login?a=b', 'Mozilla', '');
const text = fc.oneof({ arbitrary: short, weight: 3 }, { arbitrary: long, weight: 2 });

const event = fc.record(
  { ua: text, url: text, ruleName: text, feature: text, log: fc.constantFrom({}, { url: 1 }) },
  { requiredKeys: ['ua'] },
);

/** A batch of some different events, each many times at other times, of which some came before. */
const batch = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 6 }),
  times: fc.constantFrom(1, 3, 20, 40, 300),
  again: fc.constantFrom(0, 0, 1, 5),
});

interface Batch {
  readonly events: readonly object[];
  readonly times: number;
  readonly again: number;
}

/** Long events are taken less often, so that a run ends soon. */
function rawEvents({ events, times }: Batch, number: number): RawEvent[] {
  const bytes = JSON.stringify(events).length;
  const rounds = Math.max(1, Math.min(times, Math.floor(8_000_000 / bytes)));
  return Array.from({ length: rounds }, (_, round) =>
    events.map((one, index) => ({
      ...{ logId: `${number}-${round}-${index}`, shieldZoneId: 1 + ((round + index) % 2) },
      ...{ timestamp: NOW_MS - 5 * HOUR_MS - ((number * 7 + round * 13 + index) % 1_000), ...one },
    })),
  ).flat();
}

async function expectBounds(folder: string): Promise<number> {
  const files = ['journal', 'segments'].flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.parquet') && !file.endsWith('-log.parquet'))
      .map((file) => join(folder, name, file)),
  );
  const largest = await largestVectors(files);
  expect(Math.max(0, ...largest)).toBeLessThanOrEqual(MOST_BYTES);
  return files.length;
}

async function expectAnswers(store: TestStore, raw: readonly RawEvent[]): Promise<void> {
  const events = oracleEvents(raw);
  const window = { from: NOW_MS - 12 * HOUR_MS, to: NOW_MS };
  const whole = raw.map(({ ua }) => String(ua)).sort((a, b) => b.length - a.length);
  for (const body of [
    { ...window, pageSize: 5 },
    { ...window, pageSize: 3, filters: [{ field: 'ua', op: 'eq', value: [whole[0] ?? '', 'curl/8'] }] },
    { ...window, pageSize: 3, filters: [{ field: 'url', op: 'contains', value: ['xxxxx', 'ÉAÉ'] }] },
    { ...window, groupBy: ['ua'], pageSize: 500 },
  ]) {
    const request = { zoneId: 1, body };
    expect(await answer(store, request, NOW_MS)).toEqual(JSON.parse(JSON.stringify(searchOracle(events, body, 1))));
  }
}

test('no vector has more than 2 MiB of a column after intake, flush and merge, and answers are those of the oracle', async () => {
  let files = 0;
  const property = fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 6 }), async (batches) => {
    await withFolder(async (folder) => {
      const store = await openStoreIn(folder);
      const all: RawEvent[] = [];
      try {
        for (const [number, one] of batches.entries()) {
          const events = [...all.slice(0, one.again), ...rawEvents(one, number)];
          await appendEvents(store, events);
          all.push(...events);
          files += await expectBounds(folder);
          if (number % 2 === 1) await store.settle('flush');
        }
        await expectAnswers(store, all);
        await store.settle('flush');
        await expectAnswers(store, all);
        files += await expectBounds(folder);
        await store.settle('merge');
        await expectAnswers(store, all);
        files += await expectBounds(folder);
      } finally {
        await store.close();
      }
    });
  });
  await assertAsyncProperty(property, { numRuns: RUNS });
  expect(files).toBeGreaterThan(RUNS);
});

import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventStore } from '../../../../store/event-store.ts';
import { type AnsweredRow, exportedRows, rowsOf } from '../../../fixtures/answered-rows.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { wholeFeed } from '../feed/whole-feed.ts';
import { event, idsOf, inAnswerOrder, NOW, rowsPlan, storedIds } from '../stored-events.ts';

/** Values that are marks, values that look like marks once others were taken out, and replacement patterns. */
const VALUES = [
  '',
  '\u0001',
  '\u0001'.repeat(6),
  '\u0002'.repeat(7),
  'abcdef\u0001',
  '\u0003\u0004'.repeat(3),
  'a',
  'aaaaaa',
  'aaaaaaaaaaaa',
  '$&$&$&',
  '$1$1$1',
  '"'.repeat(6),
  '\\'.repeat(6),
  '%%%%%%',
  '\u001f'.repeat(6),
  '203.0.113.9',
  '920000',
  'ééé',
  '😀😀',
];
const value = fc.oneof(fc.constantFrom(...VALUES), fc.string({ maxLength: 8 }));
const fields = fc.record({ url: value, ip: value, ruleName: value, ruleId: value }, { requiredKeys: [] });
/** Logs made of the values of the fields, so that they contain them again and again. */
const log = fc.dictionary(
  value,
  fc.oneof(
    value,
    fc.array(value, { maxLength: 4 }).map((values) => values.join('')),
  ),
  { maxKeys: 5 },
);

/** Reads every id and log, byte for byte, in each way. */
async function readEveryWay(store: EventStore): Promise<Readonly<Record<string, readonly string[]>>> {
  const searched = await rowsOf(await store.search(rowsPlan()));
  const exported = await exportedRows(store, rowsPlan());
  const fed = (await wholeFeed(store)).toSorted((a, b) => b.timestamp - a.timestamp || (a.logId < b.logId ? -1 : 1));
  const textOf = ({ logId, logJson }: Pick<AnsweredRow, 'logId' | 'logJson'>) => `${logId} ${logJson}`;
  return { searched: searched.map(textOf), exported: exported.map(textOf), fed: fed.map(textOf) };
}

/** Reads before and after a flush, after a merge, and from a store that was just opened and has no caches. */
async function expectSameFlushed(events: readonly CanonicalEvent[]): Promise<void> {
  const dataDir = temporaryFolder();
  const half = Math.ceil(events.length / 2);
  await using hot = await opened(temporaryFolder());
  await hot.store.append(canonicalBatch(events));
  const expected = await readEveryWay(hot.store);
  expect(expected['searched']).toHaveLength(events.length);
  {
    await using filled = await opened(dataDir);
    for (const part of [events.slice(0, half), events.slice(half)]) {
      await filled.store.append(canonicalBatch(part));
      await filled.store.flushNow();
    }
    expect(await readEveryWay(filled.store)).toEqual(expected);
    await filled.store.compactNow();
  }
  await using merged = await opened(dataDir);
  expect(await readEveryWay(merged.store)).toEqual(expected);
}

async function opened(dataDir: string) {
  const store = await embeddedStoreIn(dataDir, { now: () => NOW });
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

test('a log that repeats the values of its event comes out as it went in, whatever they are', async () => {
  const events = fc.array(fc.record({ fields, log }), { minLength: 1, maxLength: 8 });
  await assertAsyncProperty(
    fc.asyncProperty(events, async (given) => {
      await expectSameFlushed(given.map((one, index) => event(`e${index}`, NOW - index, { ...one.fields, log: one.log })));
    }),
    // Only unpacking in the opposite order restores it.
    {
      ...KNOWN_IN_TIME,
      numRuns: 25,
      examples: [[[{ fields: { url: 'aaaaaa', ip: 'xxxxxx\u0001', ruleName: 'yyyyyy\u0002' }, log: { k: 'yyyyyyxxxxxxaaaaaa' } }]]],
    },
  );
});

test('a long log that is full of a value comes out as it went in', async () => {
  const body = '123456'.repeat(50_000);
  await expectSameFlushed([
    event('long', NOW, { ruleId: '123456', log: { body } }),
    event('short', NOW, { ruleId: '123456', log: { body: '123456' } }),
  ]);
});

test('what a log repeats of its event takes no room in the file of logs', async () => {
  const sizes: number[] = [];
  for (const repeats of [true, false]) {
    const dataDir = temporaryFolder();
    const store = await embeddedStoreIn(dataDir);
    const events = Array.from({ length: 2_000 }, (_, index) => {
      const url = `https://shop.example/${createHash('sha256').update(String(index)).digest('hex')}`;
      return event(`e${index}`, NOW - index, { url, log: repeats ? { Url: url, n: index } : { n: index } });
    });
    await store.append(canonicalBatch(events));
    await store.flushNow();
    const segments = join(dataDir, 'segments');
    const [file = ''] = readdirSync(segments).filter((name) => name.endsWith('-log.parquet'));
    sizes.push(statSync(join(segments, file)).size);
  }
  const [repeated = 0, without = 0] = sizes;
  // A digest has 32 bytes that cannot be compressed.
  expect(repeated - without).toBeLessThan(2_000);
});

const HEX = '0123456789abcdef0123456789abcdef';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const LOG_IDS = [
  HEX,
  UUID,
  HEX.toUpperCase(),
  UUID.toUpperCase(),
  HEX.slice(1),
  `${HEX}0`,
  `${HEX.slice(1)}g`,
  `${HEX.slice(1)}-`,
  `{${UUID.slice(2)}}`,
  UUID.replace('-', '0'),
  `${HEX}0123`,
  '-',
  '--------------------------------',
  'shield-events-3-41',
  '00000000000000000000000000000000',
  '00000000-0000-0000-0000-000000000000',
  'ffffffffffffffffffffffffffffffff',
  'é'.repeat(16),
  '\u0000',
];

test('an id comes out as it went in, whatever its form', async () => {
  await expectSameFlushed(LOG_IDS.map((logId) => event(logId, NOW)));
});

test('an event that is flushed already is not stored again, whatever the form of its id', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events = LOG_IDS.map((logId) => event(logId, NOW));
  await store.append(canonicalBatch(events));
  await store.flushNow();
  await store.append(canonicalBatch(events));
  expect(await storedIds(store)).toEqual(inAnswerOrder(events));
  expect(new Set(idsOf(events)).size).toBe(LOG_IDS.length);
});

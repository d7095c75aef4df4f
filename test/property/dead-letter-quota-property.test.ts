import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadLetterTable, type NewDeadLetter } from '../../store/embedded/catalog/dead-letter-table.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';

const QUOTA_BYTES = 20_000;
const LARGEST_BYTES = 4_000;
/** What a letter without bytes takes. */
const ROW_BYTES = 408;

interface Sent {
  readonly zone: number | null;
  readonly sizeBytes: number;
  readonly isFromKafka: boolean;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  zone: fc.constantFrom(1, 1, 1, 1, 2, 2, 3, -4, null),
  sizeBytes: fc.oneof(fc.integer({ min: ROW_BYTES + 4, max: 600 }), fc.integer({ min: ROW_BYTES + 4, max: LARGEST_BYTES })),
  isFromKafka: fc.boolean(),
});

function letterOf({ zone, sizeBytes, isFromKafka }: Sent, index: number): NewDeadLetter {
  const bytes = Buffer.alloc(sizeBytes - ROW_BYTES);
  bytes.writeUInt32LE(index);
  const origin = isFromKafka ? { topic: '', partition: 0, offset: BigInt(index) } : { topic: null, partition: null, offset: null };
  return { bytes, cut: null, reason: 'no event', source: isFromKafka ? 'kafka' : 'http', ...origin, zoneId: zone, receivedAtMs: index };
}

const bytesOf = (letters: Iterable<Sent>): number => [...letters].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The zones whose letters, those that are not kept included, take less than an equal share; one letter may come on top of a share. */
function modestZones(letters: readonly Sent[]): ReadonlySet<number | null> {
  const byZone = Map.groupBy(letters, ({ zone }) => zone);
  const shareBytes = (QUOTA_BYTES - LARGEST_BYTES) / byZone.size;
  return new Set([...byZone].filter(([, ofZone]) => bytesOf(ofZone) <= shareBytes).map(([zone]) => zone));
}

/** Adds the batches one after the other, and checks what is kept after each. */
function checkAdding(table: DeadLetterTable, batches: readonly (readonly Sent[])[]): void {
  const added: (Sent & { readonly id: number | null })[] = [];
  const held = new Map<number, Sent>();
  for (const batch of batches) {
    const { ids, gaveWay } = table.add(batch.map((letter, at) => letterOf(letter, added.length + at)));
    for (const [at, letter] of batch.entries()) added.push({ ...letter, id: ids[at] ?? null });
    for (const { id, ...letter } of added.slice(-batch.length)) if (id !== null) held.set(id, letter);
    for (const id of gaveWay) expect(held.delete(id)).toBe(true);
    const listed = table.list({ zones: 'all', limit: 10_000 }, Number.POSITIVE_INFINITY);
    expect(listed.filter(({ isWhole }) => isWhole).map(({ id }) => Number(id))).toEqual([...held.keys()]);
    expect(table.count()).toBe(listed.length);
    expect(bytesOf(held.values())).toBeLessThanOrEqual(QUOTA_BYTES);
    const modest = modestZones(added);
    expect(added.filter(({ id, zone }) => modest.has(zone) && !held.has(id ?? 0))).toEqual([]);
  }
}

test('the quota is never passed, and no letter of a zone within its share is lost, whatever others send', () => {
  const folder = temporaryFolder();
  let files = 0;
  const property = fc.property(fc.array(fc.array(sent, { minLength: 1, maxLength: 30 }), { maxLength: 8 }), (batches) => {
    files += 1;
    const table = DeadLetterTable.open(join(folder, `${files}.sqlite`), QUOTA_BYTES);
    try {
      checkAdding(table, batches);
    } finally {
      table.close();
    }
  });
  assertProperty(property, { numRuns: propertyRuns(100) });
});

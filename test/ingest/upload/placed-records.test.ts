import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { RecordPlaces } from '../../../ingest/doors/envelope.ts';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import { PlacedRecords } from '../../../ingest/upload/placed-records.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';

const EVENT = { shieldZoneId: 7, timestamp: Date.now() - 60_000, feature: 'waf', action: 'blocked', log: { a: 1 } };
/** An event that the kernel declines, as it has a member of another name. */
const unusual = (rest: object = {}): string => JSON.stringify({ ...EVENT, other: 'x', ...rest });
const usual = (index: number): string => JSON.stringify({ ...EVENT, ruleId: String(index) });

/** Lays records in bytes with gaps between them, and takes them in by chunks of a size. */
async function takenIn(records: readonly (string | Buffer)[], chunkBytes: number) {
  const pieces = records.flatMap((record) => [Buffer.from(' {"event":'), Buffer.from(record as string), Buffer.from('} ')]);
  const bytes = Buffer.concat(pieces);
  const places = new RecordPlaces(bytes);
  let at = 0;
  for (const [index, { length }] of pieces.entries()) {
    if (index % 3 === 1) places.add(at, at + length);
    at += length;
  }
  const { records: placed } = places.taken();
  const store = await storeIn(temporaryFolder());
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
  }
  const report = await takeInEvents(chunks(), {
    ...{ store, source: 'http', now: Date.now, retentionMs: 3_600_000 },
    splitter: (converter) => new PlacedRecords(placed, converter),
  });
  return { report, letters: await store.listDeadLetters({ zones: 'all', limit: 100 }) };
}

test.each([64, 1_000, 1_000_000])(
  'records are taken in in their order, whatever kind each has, in chunks of %i bytes',
  async (chunkBytes) => {
    const good = Array.from({ length: 100 }, (_, index) => (index % 7 === 0 ? unusual({ ruleId: index }) : usual(index)));
    const records = [
      ...good.slice(0, 50),
      '{"shieldZoneId":7}',
      'no JSON',
      ...good.slice(50),
      unusual({ log: { x: 'x'.repeat(100_000) } }),
    ];
    const { report, letters } = await takenIn(records, chunkBytes);
    expect(report).toMatchObject({ accepted: 101, rejectedCount: 2, duplicates: 0 });
    expect(report.rejected.map(({ index, line }) => [index, line])).toEqual([
      [50, 51],
      [51, 52],
    ]);
    expect(letters.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['{"shieldZoneId":7}', 'no JSON']);
  },
);

test('a record that is longer than any event is a letter with its length and its hash', async () => {
  const long = unusual({ text: 'x'.repeat(3_000_000) });
  const { report, letters } = await takenIn([usual(1), long, usual(2)], 65_536);
  expect(report).toMatchObject({ accepted: 2, rejectedCount: 1, rejected: [{ index: 1 }] });
  const sha256 = createHash('sha256').update(long).digest('hex');
  expect(letters).toEqual([expect.objectContaining({ sizeBytes: long.length, sha256, isWhole: false })]);
});

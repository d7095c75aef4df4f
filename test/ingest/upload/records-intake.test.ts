import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { RecordPlaces } from '../../../ingest/doors/envelope.ts';
import { LARGEST_LINE_BYTES } from '../../../ingest/event/event-verdict.ts';
import { takeInRecords } from '../../../ingest/upload/event-intake.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';

const EVENT = { shieldZoneId: 7, timestamp: Date.now() - 60_000, feature: 'waf', action: 'blocked', log: { a: 1 } };
/** An event that the kernel declines, as it has a member of another name. */
const unusual = (rest: object = {}): string => JSON.stringify({ ...EVENT, other: 'x', ...rest });
const usual = (index: number, rest: object = {}): string => JSON.stringify({ ...EVENT, ruleId: String(index), ...rest });

/** Lays records in bytes with gaps between them, and takes them in. */
async function takenIn(records: readonly (string | Buffer)[]) {
  const pieces = records.flatMap((record) => [Buffer.from(' {"event":'), Buffer.from(record as string), Buffer.from('} ')]);
  const places = new RecordPlaces(Buffer.concat(pieces));
  let at = 0;
  for (const [index, { length }] of pieces.entries()) {
    if (index % 3 === 1) places.add(at, at + length);
    at += length;
  }
  const store = await storeIn(temporaryFolder());
  const report = await takeInRecords(places.taken().records, { store, source: 'http', now: Date.now, retentionMs: 3_600_000 });
  return { report, letters: await store.listDeadLetters({ zones: 'all', limit: 100 }) };
}

// Some 64 KiB are taken in together.
test.each([0, 1_000, 30_000, 100_000])('records of %i bytes are taken in in their order, whatever kind each has', async (logBytes) => {
  const log = { x: 'x'.repeat(logBytes) };
  const good = Array.from({ length: 100 }, (_, index) => (index % 7 === 0 ? unusual({ ruleId: index, log }) : usual(index, { log })));
  const records = [...good.slice(0, 50), '{"shieldZoneId":7}', 'no JSON', ...good.slice(50), unusual({ log: { x: 'x'.repeat(100_000) } })];
  const { report, letters } = await takenIn(records);
  expect(report).toMatchObject({ accepted: 101, rejectedCount: 2, duplicates: 0 });
  expect(report.rejected.map(({ index, line }) => [index, line])).toEqual([
    [50, 51],
    [51, 52],
  ]);
  expect(letters.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['{"shieldZoneId":7}', 'no JSON']);
});

test('a record that is longer than any event is a letter with its length and its hash', async () => {
  const long = unusual({ text: 'x'.repeat(3_000_000) });
  const { report, letters } = await takenIn([usual(1), long, usual(2), long.slice(0, 2_500_000)]);
  expect(report).toMatchObject({
    accepted: 2,
    rejectedCount: 2,
    rejected: [
      { index: 1, line: 2 },
      { index: 3, line: 4 },
    ],
  });
  const sha256 = createHash('sha256').update(long).digest('hex');
  expect(letters[0]).toMatchObject({ sizeBytes: long.length, sha256, isWhole: false });
});

// A line may end in a carriage return: one byte more than the longest line has is kept as it is.
test.each([0, 1, 2])('a record that is %i bytes longer than the longest line is a letter that says its length', async (more) => {
  const sizeBytes = LARGEST_LINE_BYTES + more;
  const record = unusual({ text: 'x'.repeat(sizeBytes - unusual({ text: '' }).length) });
  const { report, letters } = await takenIn([record, usual(1)]);
  const reason = expect.stringMatching(more > 0 ? `^the event has ${sizeBytes} bytes: ` : '^the log has [0-9]+ bytes, ');
  expect(report).toMatchObject({ accepted: 1, rejected: [{ index: 0, line: 1, reason }] });
  expect(letters).toMatchObject([{ sizeBytes, isWhole: false, reason }]);
});

test('no record is no event', async () => {
  expect((await takenIn([])).report).toMatchObject({ accepted: 0, rejectedCount: 0 });
});

import { expect, it } from 'vitest';
import { type BlockedPartition, explainBlock, skippedReason, skipTarget } from '../../../ingest/kafka/blocked-partition.ts';
import { KafkaRefused } from '../../../ingest/kafka/kafka-fault.ts';

const WHOLE: BlockedPartition = { topic: 't', partition: 3, offset: 7n, reason: 'is damaged', next: 10n };
const DAMAGED: BlockedPartition = { ...WHOLE, next: null };

const PLACE = 'the batch at offset 7 of topic t partition 3';
const ALLOWED = '--to with the offset of the next good batch, 8 to 100';

it.each<[string, BlockedPartition, to: bigint | null, expected: bigint | string]>([
  ['behind the batch', WHOLE, null, 10n],
  ['behind the batch, named', WHOLE, 10n, 10n],
  [
    'not where else than behind it',
    ...([WHOLE, 11n] as const),
    `--to 11 is not allowed: ${PLACE} has a whole header, and ends before offset 10; leave --to out`,
  ],
  [
    'nowhere without a name, where the header is damaged',
    ...([DAMAGED, null] as const),
    `the header of ${PLACE} is damaged, so where it ends is not known; add ${ALLOWED}`,
  ],
  ['to what is named, where the header is damaged', DAMAGED, 8n, 8n],
  ['to the end', DAMAGED, 100n, 100n],
  ['not to the batch itself', DAMAGED, 7n, `--to 7 is not allowed for ${PLACE}; allowed: ${ALLOWED}`],
  ['not past the end', DAMAGED, 101n, `--to 101 is not allowed for ${PLACE}; allowed: ${ALLOWED}`],
])('a skip goes %s', (_name, place, to, expected) => {
  if (typeof expected === 'bigint') expect(skipTarget(place, 100n, to)).toBe(expected);
  else expect(() => skipTarget(place, 100n, to)).toThrow(new KafkaRefused(expected));
});

it('a block is told with its place, its reason and the way past it', () => {
  expect(explainBlock(WHOLE)).toBe(
    'topic t partition 3 waits at offset 7: the batch there is damaged; it is tried again each minute; ' +
      'to go past it: shieldlog kafka skip t 3 7',
  );
  expect(explainBlock(DAMAGED)).toMatch(/: shieldlog kafka skip t 3 7 --to N, with the N of the next good batch$/);
  expect(skippedReason(WHOLE, 10n)).toBe('the batch of offsets 7 to 9 is damaged; it was skipped by shieldlog kafka skip');
  expect(skippedReason(WHOLE, 8n)).toMatch(/^the batch of offset 7 is damaged/);
});

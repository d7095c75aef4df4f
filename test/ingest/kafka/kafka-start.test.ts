import { describe, expect, it } from 'vitest';
import { startOffset } from '../../../ingest/kafka/kafka-start.ts';

describe('where a partition that holds offsets 100 to 199 is read from', () => {
  const cases: readonly (readonly [name: string, stored: bigint | undefined, kind: string, offset: bigint])[] = [
    ['the earliest, when nothing of it is stored', undefined, 'new', 100n],
    ['the stored offset, inside', 150n, 'stored', 150n],
    ['the stored offset, the earliest itself', 100n, 'stored', 100n],
    ['the stored offset, when all is read', 200n, 'stored', 200n],
    ['the earliest, when retention overtook the stored offset by one', 99n, 'overtaken', 100n],
    ['the earliest, when retention overtook it by far', 0n, 'overtaken', 100n],
    ['the earliest and never the latest, when the stored offset is past the end', 201n, 'pastEnd', 100n],
  ];
  it.each(cases)('%s', (_name, stored, kind, offset) => {
    expect(startOffset(stored, { earliest: 100n, next: 200n })).toEqual({ kind, offset });
  });
});

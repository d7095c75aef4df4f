import { describe, expect, test } from 'vitest';
import { LogMemory, MemtableLogs } from '../../../../store/embedded/blob/memtable-logs.ts';
import { GrowingTable } from '../../../../store/embedded/memtable/memtable.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { type Part, VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { HOUR, NOW } from '../stored-events.ts';

/** A segment of ten events of zone 7 and one of zone 8, in the hour with this number. */
function segment(id: number, damage?: string): Segment {
  return {
    id,
    file: `${id}.parquet`,
    rows: 11,
    bytes: 1,
    minTimestamp: NOW + id * HOUR,
    maxTimestamp: NOW + (id + 1) * HOUR - 1,
    minSequence: BigInt(id * 100),
    maxSequence: BigInt(id * 100 + 10),
    zoneRows: new Map([
      [7, 10],
      [8, 1],
    ]),
    ...(damage === undefined ? {} : { damage }),
  };
}

function versionsOf(...segments: readonly Segment[]): { readonly versions: VersionSet; readonly retired: string[] } {
  const retired: string[] = [];
  const onRetired = (part: Part) => retired.push('file' in part ? part.file : 'unflushed');
  return { versions: new VersionSet({ segments, blobFiles: [] }, 1_000n, onRetired), retired };
}

/** A table of so many events of these zones, all of one time. */
function growingSegment(zones: readonly number[], events: number, atMs: number): GrowingTable {
  const table = new GrowingTable('growing', new MemtableLogs(new LogMemory()));
  const journal = { number: 1, path: '', firstSequence: 1_000n, eventCount: events, expiredCount: 0, sourceOffsets: [] };
  const file = { sizeBytes: 1, ingestedAtMs: atMs, hasFiles: true, widestColumnBytes: 1 };
  const times = { dedupKeys: new Float64Array(events), times: new Float64Array(events).fill(atMs) };
  table.add({ ...journal, ...file }, events, { ...times, zones, minTimestamp: atMs, maxTimestamp: atMs });
  return table;
}

const idsIn = ({ segments }: { readonly segments: readonly Segment[] }): readonly number[] => segments.map(({ id }) => id);

const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

describe('a part that was taken out', () => {
  test('is retired at once where no snapshot holds it', () => {
    const { versions, retired } = versionsOf(segment(1), segment(2));
    versions.exchange({ removeSegments: versions.segments.slice(0, 1) });
    expect(idsIn(versions)).toEqual([2]);
    expect(retired).toEqual(['1.parquet']);
  });

  test('stays in the snapshots from before, and is retired after the last of them', () => {
    const { versions, retired } = versionsOf(segment(1));
    const snapshots = [versions.snapshot(), versions.snapshot()];
    versions.exchange({ addSegments: [segment(3)], removeSegments: versions.segments });
    expect(idsIn(versions.snapshot())).toEqual([3]);
    expect(snapshots.map(idsIn)).toEqual([[1], [1]]);
    snapshots[0]?.[Symbol.dispose]();
    snapshots[0]?.[Symbol.dispose]();
    expect(retired).toEqual([]);
    snapshots[1]?.[Symbol.dispose]();
    expect(retired).toEqual(['1.parquet']);
  });
});

describe('a damaged segment', () => {
  test('is in no later snapshot, and its file stays', () => {
    const { versions, retired } = versionsOf(segment(1), segment(2));
    const [damaged] = versions.segments as [Segment];
    versions.exchange({ damageSegments: [{ segment: damaged, fault: 'cut short' }] });
    expect(idsIn(versions.snapshot())).toEqual([2]);
    expect(versions.damaged).toEqual([{ segment: damaged, fault: 'cut short' }]);
    expect(retired).toEqual([]);
    versions.exchange({ removeSegments: [damaged] });
    expect(versions.damaged).toEqual([]);
    expect(retired).toEqual(['1.parquet']);
  });

  test.each([
    ['from the start', () => versionsOf(segment(1, 'missing'), segment(2)).versions],
    [
      'from a flush on',
      () => {
        const { versions } = versionsOf(segment(2));
        versions.exchange({ addSegments: [segment(1, 'missing')] });
        return versions;
      },
    ],
  ])('counts as unreadable %s', (_when, make) => {
    const versions = make();
    expect(idsIn(versions)).toEqual([2]);
    const window = { fromMs: NOW + HOUR, toMs: NOW + 2 * HOUR };
    expect([versions.unreadableEvents('all', window), versions.unreadableEvents([8], window)]).toEqual([11, 1]);
    expect(versions.unreadableEvents('all', { fromMs: NOW + 2 * HOUR, toMs: NOW + 9 * HOUR })).toBe(0);
    const between = [
      [0n, 99n],
      [0n, 100n],
      [105n, 106n],
      [110n, 200n],
      [111n, 200n],
    ] as const;
    expect(between.map(([first, last]) => versions.unreadableBetween([7], first, last))).toEqual([0, 10, 10, 10, 0]);
  });

  test('counts whole for any zone where nobody knows its zones', () => {
    const { versions } = versionsOf({ ...segment(1, 'lost'), zoneRows: new Map() });
    expect(versions.unreadableEvents([99], EVER)).toBe(11);
  });
});

test.each([
  ['a merge', (own: readonly Segment[]) => ({ addSegments: [segment(9)], removeSegments: own }), 0],
  ['a flush', () => ({ addSegments: [segment(9)] }), 0],
  ['the retention', (own: readonly Segment[]) => ({ removeSegments: own }), 1],
  ['damage', ([first]: readonly Segment[]) => ({ damageSegments: [{ segment: first as Segment, fault: 'cut short' }] }), 1],
  ['a flush of a lost journal', () => ({ addSegments: [segment(9, 'lost')] }), 1],
])('%s tells later snapshots whether events are gone', (_what, changeOf, expiries) => {
  const { versions } = versionsOf(segment(1), segment(2));
  versions.exchange(changeOf(versions.segments));
  expect(versions.snapshot().expiries).toBe(expiries);
});

test('the most events of a window are those of its segments, by zone, and all of the growing segments with a zone', () => {
  const { versions } = versionsOf(segment(1), segment(2));
  expect([versions.mostEvents('all', EVER), versions.mostEvents([8, 9], EVER)]).toEqual([22, 2]);
  expect(versions.mostEvents([7], { fromMs: NOW + 2 * HOUR, toMs: NOW + 2 * HOUR + 1 })).toBe(10);
  versions.exchange({ addGrowing: growingSegment([8, 9], 5, NOW + 2 * HOUR) });
  expect([[7], [8], [9], 'all' as const].map((zones) => versions.mostEvents(zones, EVER))).toEqual([20, 7, 5, 27]);
  expect(versions.mostEvents([9], { fromMs: NOW, toMs: NOW + 2 * HOUR })).toBe(0);
  versions.exchange({ removeGrowing: versions.growingSegments });
  expect(versions.mostEvents([9], EVER)).toBe(0);
});

test('what has become visible is told to listeners, and to the ends of its zones', async () => {
  const { versions } = versionsOf(segment(1));
  let calls = 0;
  const stop = versions.onAdvance(() => {
    calls += 1;
  });
  versions.advance(1_010n, [8]);
  expect(versions.snapshot().endSequence).toBe(1_010n);
  expect([versions.zoneEnds.of([7]), versions.zoneEnds.of([8]), versions.zoneEnds.of([9]), versions.zoneEnds.of('all')]).toEqual([
    110n,
    1_009n,
    0n,
    1_009n,
  ]);
  expect(calls).toBe(0);
  await Promise.resolve();
  expect(calls).toBe(1);
  stop();
  versions.advance(1_020n, []);
  await Promise.resolve();
  expect(calls).toBe(1);
});

import type { FeedRange } from '../../../sql/feed-statements.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment } from '../segment/segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';

/** How much is read together at most: so many events, and so many bytes of them, but at least one event. */
export interface FeedBudget {
  readonly events: number;
  readonly bytes: number;
}

/** A blob file has few events of a small zone, and each blob file is a file to open. */
const MAX_BLOB_FILES = 64;

/** Flushed events that are read together. */
export interface FlushedRange extends FeedRange {
  /** Roughly how many, and how long their texts are. */
  readonly events: number;
  readonly bytes: number;
}

type FlushedParts = Pick<Snapshot, 'segments' | 'blobFiles'>;

/**
 * Returns the range of flushed events that a reader gets next: the blob files that fit into the budget, at least one.
 * Returns undefined where no event of the zones is flushed behind `after`. Flushed events come before all unflushed ones in the sequence.
 */
export function nextFlushed(
  { segments, blobFiles }: FlushedParts,
  zones: FeedRange['zones'],
  after: bigint,
  budget: FeedBudget,
): FlushedRange | undefined {
  const chosen: BlobFile[] = [];
  let [events, bytes] = [0, 0];
  const left = blobFiles.filter(({ maxSequence }) => maxSequence > after).sort((a, b) => (a.minSequence < b.minSequence ? -1 : 1));
  for (const blobFile of left) {
    const within = { after, upTo: blobFile.maxSequence };
    const expected = segments.reduce((sum, segment) => sum + eventsOf(segment, zones) * overlap(segment, blobFile, within), 0);
    if (expected === 0) {
      continue;
    }
    const more = { events: Math.min(expected, blobFile.rows), bytes: Math.min(expected / blobFile.rows, 1) * blobFile.textBytes };
    const fits = events + more.events <= budget.events && bytes + more.bytes <= budget.bytes && chosen.length < MAX_BLOB_FILES;
    if (chosen.length > 0 && !fits) {
      break;
    }
    chosen.push(blobFile);
    events += more.events;
    bytes += more.bytes;
  }
  const last = chosen.at(-1);
  return last && { zones, after, upTo: last.maxSequence, events, bytes };
}

/** The parts that hold the flushed events of a range; undefined where there are none, or none any more. */
export function partsOf({ segments, blobFiles }: FlushedParts, range: FeedRange): FlushedParts | undefined {
  const wanted = blobFiles
    .map((blobFile) => ({
      blobFile,
      segments: segments.filter((segment) => overlap(segment, blobFile, range) > 0 && eventsOf(segment, range.zones) > 0),
    }))
    .filter((part) => part.segments.length > 0);
  return wanted.length === 0
    ? undefined
    : { blobFiles: wanted.map(({ blobFile }) => blobFile), segments: [...new Set(wanted.flatMap((part) => part.segments))] };
}

/** The share of a segment's sequences that a blob file has within a range. */
function overlap({ minSequence, maxSequence }: Segment, blobFile: BlobFile, { after, upTo }: Omit<FeedRange, 'zones'>): number {
  const from = [minSequence, blobFile.minSequence, after + 1n].reduce((highest, sequence) => (sequence > highest ? sequence : highest));
  const to = [maxSequence, blobFile.maxSequence, upTo].reduce((lowest, sequence) => (sequence < lowest ? sequence : lowest));
  return to < from ? 0 : Number(to - from + 1n) / Number(maxSequence - minSequence + 1n);
}

function eventsOf({ rows, zoneRows }: Segment, zones: FeedRange['zones']): number {
  return zones === 'all' ? rows : zones.reduce((sum, zone) => sum + (zoneRows.get(zone) ?? 0), 0);
}

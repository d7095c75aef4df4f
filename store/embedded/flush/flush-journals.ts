import { HOUR_MS } from '../../../query/durations.ts';
import { SEGMENT_ORDER } from '../../../sql/segment-layout.ts';
import { blobPointerTo } from '../../../sql/segment-statements.ts';
import { ColumnEncoder } from '../parquet/column-encoder.ts';
import { orderBy } from '../parquet/event-order.ts';
import { JournalEvents } from '../parquet/journal-events.ts';
import { writeSegmentFile } from '../parquet/segment-file.ts';
import { type Address, SegmentKernel } from '../parquet/segment-kernel.ts';
import { type PartitionZone, planFlush, type SegmentPlan } from '../segment/segment-plan.ts';
import { NewSegments } from '../segment/segment-writer.ts';
import type { FieldsTask, FlushedFields } from './flush-fields.ts';

/** The columns by which events are ordered and planned into segments, by the number of the event. */
interface EventKeys {
  readonly zones: Int32Array;
  /** Unix milliseconds. */
  readonly timestamps: Float64Array;
  /** The sequences, counted from that of the first log. */
  readonly sequences: Float64Array;
}

/** The work of the thread of a `FieldsWriter`. */
export function startWork(): (task: FieldsTask) => Promise<FlushedFields> {
  return flushJournals.bind(null, new SegmentKernel());
}

/**
 * Writes the fields of journals, as `writeFlushedFields` does in SQL, into segments that are not published yet. All sources are journals.
 * The error about a journal that cannot be read names its file. When this rejects, no file is left.
 */
export async function flushJournals(kernel: SegmentKernel, task: Omit<FieldsTask, 'endSequence'>): Promise<FlushedFields> {
  const { segmentsFolder, stem, sources, blobFile, firstSequence, sequences } = task;
  const paths = sources.flatMap((source) => ('path' in source ? [source.path] : []));
  const journals = new JournalEvents(paths, kernel);
  const keys = keysOf(journals, firstSequence);
  const all = orderOf(journals);
  const sorted = sequences === undefined ? all : eventsWith(sequences, all, keys);
  if (sorted.length !== task.events) {
    throw new Error(`the journals ${paths.join(', ')} hold ${sorted.length} events instead of ${task.events}`);
  }
  const encoder = new ColumnEncoder(journals);
  const rows = new Float64Array(sorted.length);
  await using segments = new NewSegments(segmentsFolder, stem);
  for (const plan of planFlush(partitionZonesOf(sorted, keys, firstSequence))) {
    const events = eventsOf(plan, sorted, keys);
    const zones = new Int32Array(events.length);
    const first = segments.rows;
    for (let row = 0; row < events.length; row += 1) {
      const event = events[row] as number;
      zones[row] = keys.zones[event] as number;
      rows[first + row] = keys.sequences[event] as number;
    }
    await using file = segments.begin();
    writeSegmentFile(file.temporaryPath, { events, zones, firstBlobPointer: blobPointerTo(blobFile, first) }, encoder);
    await segments.add(plan, file);
  }
  return { segments: await segments.finish(), rows };
}

/** Numbers of eight bytes are read as two words, because bigints are slow. */
const WORD = 2 ** 32;

function keysOf({ kernel, count, zones, timestamps, sequences }: JournalEvents, firstSequence: bigint): EventKeys {
  return {
    zones: kernel.int32s(zones, count).slice(),
    timestamps: wholeNumbers(kernel, timestamps, count, 0),
    sequences: wholeNumbers(kernel, sequences, count, Number(firstSequence)),
  };
}

function wholeNumbers(kernel: SegmentKernel, at: Address, count: number, from: number): Float64Array {
  const [low, high] = [kernel.uint32s(at, 2 * count), kernel.int32s(at, 2 * count)];
  const numbers = new Float64Array(count);
  for (let event = 0; event < count; event += 1) {
    numbers[event] = (high[2 * event + 1] as number) * WORD + (low[2 * event] as number) - from;
  }
  return numbers;
}

/** Flipping the sign bit of the high word puts signed numbers in the order of unsigned words. */
const SIGN = 0x8000_0000;

/** The numbers of the events in `SEGMENT_ORDER`. The journals are in the order of `seq`, and the sort keeps it. */
function orderOf({ kernel, count, zones, timestamps }: JournalEvents): Uint32Array {
  const [zoneWords, timeWords] = [kernel.uint32s(zones, count), kernel.uint32s(timestamps, 2 * count)];
  const [zone, timeHigh, timeLow] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  for (let event = 0; event < count; event += 1) {
    zone[event] = (zoneWords[event] as number) ^ SIGN;
    timeHigh[event] = (timeWords[2 * event + 1] as number) ^ SIGN;
    timeLow[event] = timeWords[2 * event] as number;
  }
  const words: Record<(typeof SEGMENT_ORDER)[number], readonly Uint32Array[]> = {
    shieldZoneId: [zone],
    timestamp: [timeHigh, timeLow],
    seq: [],
  };
  return orderBy(
    count,
    SEGMENT_ORDER.flatMap((column) => words[column]),
  );
}

function eventsWith(wanted: Float64Array, events: Uint32Array, { sequences }: EventKeys): Uint32Array {
  const known = new Set(wanted);
  return events.filter((event) => known.has(sequences[event] as number));
}

/** The events of each zone in each hour, by hour. */
function partitionZonesOf(sorted: Uint32Array, { zones, timestamps, sequences }: EventKeys, firstSequence: bigint): PartitionZone[] {
  const partitionZones: PartitionZone[] = [];
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const first = sorted[from] as number;
    const zone = zones[first] as number;
    const partition = Math.floor((timestamps[first] as number) / HOUR_MS);
    const end = (partition + 1) * HOUR_MS;
    let [min, max] = [Number.POSITIVE_INFINITY, 0];
    for (; to < sorted.length; to += 1) {
      const event = sorted[to] as number;
      if (zones[event] !== zone || (timestamps[event] as number) >= end) {
        break;
      }
      min = Math.min(min, sequences[event] as number);
      max = Math.max(max, sequences[event] as number);
    }
    partitionZones.push({
      partition,
      zone,
      events: to - from,
      minTimestamp: timestamps[first] as number,
      maxTimestamp: timestamps[sorted[to - 1] as number] as number,
      minSequence: firstSequence + BigInt(min),
      maxSequence: firstSequence + BigInt(max),
    });
  }
  return partitionZones.sort((a, b) => a.partition - b.partition || a.zone - b.zone);
}

function eventsOf({ slice, content }: SegmentPlan, sorted: Uint32Array, { zones, timestamps }: EventKeys): Uint32Array {
  if (content.rows === sorted.length) {
    return sorted;
  }
  return sorted.filter((event) => {
    const [zone, timestamp] = [zones[event] as number, timestamps[event] as number];
    return zone >= slice.firstZone && zone <= slice.lastZone && timestamp >= slice.fromMs && timestamp < slice.toMs;
  });
}

import { blobPointerTo } from '../../../sql/segment-statements.ts';
import { ColumnEncoder } from '../parquet/column-encoder.ts';
import { orderBy } from '../parquet/event-order.ts';
import { JournalEvents } from '../parquet/journal-events.ts';
import { writeSegmentFile } from '../parquet/segment-file.ts';
import type { Address, SegmentKernel } from '../parquet/segment-kernel.ts';
import { HOUR_MS, type PartitionZone, planFlush, type SegmentPlan } from '../segment/segment-plan.ts';
import { writeSegments } from '../segment/segment-writer.ts';
import type { FieldsOrder, FlushedFields } from './flushed-fields.ts';

/** Unflushed events that are in journals alone. */
export interface JournalsOrder extends Omit<FieldsOrder, 'sources' | 'endSequence'> {
  readonly paths: readonly string[];
}

/** Of each event. */
interface EventKeys {
  readonly zones: Int32Array;
  /** Unix milliseconds. */
  readonly timestamps: Float64Array;
  /** How far each is from the first log's. */
  readonly sequences: Float64Array;
}

/**
 * Writes the fields of journals, in order, into segments, which do not count yet: what `writeFlushedFields` does in SQL. Rejects with what
 * names the file where a journal cannot be read. When this rejects, nothing of the segments is left.
 */
export async function flushJournals(order: JournalsOrder, kernel: SegmentKernel): Promise<FlushedFields> {
  const { segmentsFolder, stem, paths, blobFile, firstSequence } = order;
  const journals = new JournalEvents(paths, kernel);
  if (journals.count !== order.events) {
    throw new Error(`the journals ${paths.join(', ')} hold ${journals.count} events instead of ${order.events}`);
  }
  const keys = keysOf(journals, firstSequence);
  const sorted = orderOf(journals);
  const encoder = new ColumnEncoder(journals);
  const rows = new Float64Array(journals.count);
  const segments = await writeSegments(
    segmentsFolder,
    stem,
    planFlush(partitionZonesOf(sorted, keys, firstSequence)),
    async (plan, first, path) => {
      const events = eventsOf(plan, sorted, keys);
      const zones = new Int32Array(events.length);
      for (let row = 0; row < events.length; row += 1) {
        const event = events[row] as number;
        zones[row] = keys.zones[event] as number;
        rows[first + row] = keys.sequences[event] as number;
      }
      writeSegmentFile(path, { events, zones, firstBlobPointer: blobPointerTo(blobFile, first) }, encoder);
    },
  );
  return { segments, rows };
}

/** Numbers of eight bytes are looked at in two words: as such they would be bigints, which are slow. */
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

/** Flipped in the word of a number that has it, words are in the order of their numbers. */
const SIGN = 0x8000_0000;

/** By zone, then by time; those of the same time stay in the order of the journals, which is that of their sequence. */
function orderOf({ kernel, count, zones, timestamps }: JournalEvents): Uint32Array {
  const [zoneWords, timeWords] = [kernel.uint32s(zones, count), kernel.uint32s(timestamps, 2 * count)];
  const [zone, timeHigh, timeLow] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  for (let event = 0; event < count; event += 1) {
    zone[event] = (zoneWords[event] as number) ^ SIGN;
    timeHigh[event] = (timeWords[2 * event + 1] as number) ^ SIGN;
    timeLow[event] = timeWords[2 * event] as number;
  }
  return orderBy(count, [zone, timeHigh, timeLow]);
}

/** By the hour, as the plan of a flush asks for it: first those of the first hour. */
function partitionZonesOf(sorted: Uint32Array, { zones, timestamps, sequences }: EventKeys, firstSequence: bigint): PartitionZone[] {
  const partitionZones: PartitionZone[] = [];
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const first = sorted[from] as number;
    const zone = zones[first] as number;
    const partition = Math.floor((timestamps[first] as number) / HOUR_MS);
    const end = (partition + 1) * HOUR_MS;
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    for (; to < sorted.length; to += 1) {
      const event = sorted[to] as number;
      if (zones[event] !== zone || (timestamps[event] as number) >= end) {
        break;
      }
      least = Math.min(least, sequences[event] as number);
      most = Math.max(most, sequences[event] as number);
    }
    partitionZones.push({
      partition,
      zone,
      events: to - from,
      minTimestamp: timestamps[first] as number,
      maxTimestamp: timestamps[sorted[to - 1] as number] as number,
      minSequence: firstSequence + BigInt(least),
      maxSequence: firstSequence + BigInt(most),
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

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import type { EventStore, StoreLogger } from '../../store/event-store.ts';
import { BatchBuilder } from '../event/batch-builder.ts';
import { type MappedRecord, RecordMapper } from '../mapping/record-mapper.ts';
import { decompressed } from '../upload/decompress.ts';
import { takeInEvents } from '../upload/event-intake.ts';
import { countsText, IntakeError, type IntakeReport, UnreadableInput } from '../upload/intake-report.ts';
import type { RecordZones } from '../upload/mapped-pieces.ts';
import { mapRecords } from '../upload/mapped-records.ts';
import type { MappingThreads } from '../upload/mapping-threads.ts';
import type { DemoFeed } from './demo-feed.ts';

/** Records for which the mapping has no zone are of zone 1. */
const ZONES: RecordZones = { given: null, fallback: 1, opened: 'all' };
/** The store keeps by how much the times of a file were moved as the offset of a source with this one partition. */
const PARTITION = 0;
const SHOWN_REASONS = 3;

export interface DemoFileOptions {
  readonly store: EventStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  readonly logger: StoreLogger;
  /** The path of a file of records: lines, arrays or objects over several lines, plain, gzip or zstd. */
  readonly file: string;
  readonly threads: MappingThreads;
  /** The name of one of their mappings. */
  readonly mapping: string;
}

/**
 * Takes the records of a file in once, in the place of made-up events. Their times are moved by one amount, so that the newest record is
 * now, because last week's log would expire whole. `filled` resolves when they are stored and their counts are logged. It rejects where the
 * file cannot be read or the store refuses events.
 */
export function startDemoFile(options: DemoFileOptions): DemoFeed {
  const stopping = new AbortController();
  const filled = takeFileIn(options, stopping.signal);
  const running = filled.catch((error: unknown) => {
    if (!stopping.signal.aborted) options.logger.warn({ err: error }, 'the demo file could not be taken in');
  });
  return {
    filled,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function takeFileIn(options: DemoFileOptions, signal: AbortSignal): Promise<void> {
  const { threads, mapping, logger, file } = options;
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    // A file that is written to meanwhile ends both times where it ended at first.
    const read = () => decompressed(handle.createReadStream({ start: 0, end: Math.max(size, 1) - 1, autoClose: false }), 'detected');
    const newestMs = await newestTime(read(), threads, mapping, signal);
    const movedByMs = newestMs === null ? 0 : await amountOf(newestMs, options);
    const intake = { ...options, source: 'file', signal, mapping: { threads, name: mapping, zones: ZONES, movedByMs } } as const;
    const { report, fault } = await takeInEvents(read(), intake).then((taken) => ({ report: taken, fault: null }), brokenOff);
    const { accepted, duplicates, expired, rejected, rejectedCount, leftOut } = report;
    const moved = newestMs === null ? 'none of them is an event' : `all times were moved ${amountText(movedByMs)}`;
    const details = { file, mapping, accepted, duplicates, expired, rejectedCount, leftOut, movedByMs };
    logger.info(details, `the records of ${file}: ${countsText(report)}; ${moved}`);
    for (const reason of [...new Set(rejected.map((one) => one.reason))].slice(0, SHOWN_REASONS)) {
      logger.warn({ file }, `a record of ${file} was rejected: ${reason}`);
    }
    if (fault !== null) logger.warn({ file }, `${file} was not read to its end: ${fault}`);
  } finally {
    await handle.close();
  }
}

/** What was taken in of a file that cannot be read to its end, and why. Throws any other error. */
function brokenOff(error: unknown): { readonly report: IntakeReport; readonly fault: string } {
  if (!(error instanceof IntakeError)) throw error;
  return { report: error.report, fault: (error.cause as Error).message };
}

/** Unix milliseconds of the newest record that becomes an event, as far as the file can be read; null where none does. */
async function newestTime(
  bytes: AsyncIterable<Uint8Array>,
  { mappings }: MappingThreads,
  mapping: string,
  signal: AbortSignal,
): Promise<number | null> {
  const mapper = new RecordMapper(mappings.get(mapping)!.mapping, { ...ZONES, opens: () => true });
  let newestMs: number | null = null;
  const receive = (mapped: MappedRecord): void => {
    if (mapped.kind === 'event' && mapped.timeMs > (newestMs ?? Number.NEGATIVE_INFINITY)) newestMs = mapped.timeMs;
  };
  try {
    await mapRecords(bytes, mapper, receive, async () => {
      signal.throwIfAborted();
      // Searches go on meanwhile.
      await yieldToOthers();
    });
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
  return newestMs;
}

/**
 * By how many milliseconds the times are moved, which the store keeps. The amount of an earlier start counts as long as the newest record
 * is not past the retention by it: an event with another time would be another event.
 */
async function amountOf(newestMs: number, { store, now, retentionMs, file }: DemoFileOptions): Promise<number> {
  const source = `demo file ${resolve(file)}`;
  const [nowMs, stored] = [now(), await store.sourceOffset(source, PARTITION)];
  const again = newestMs + Number(stored);
  if (again >= nowMs - retentionMs && again <= nowMs) return Number(stored);
  const builder = new BatchBuilder({ now, retentionMs });
  builder.moveTo(source, PARTITION, BigInt(nowMs - newestMs));
  await store.append(builder.take());
  return nowMs - newestMs;
}

const UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [1_000, 's'],
  [1, 'ms'],
] as const;

/** `ahead by 6 d 3 h`: the two largest units, because the details have all digits. */
function amountText(ms: number): string {
  let left = Math.abs(ms);
  const parts = UNITS.flatMap(([unitMs, unit]) => {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return `${ms < 0 ? 'back' : 'ahead'} by ${parts.slice(0, 2).join(' ') || '0 s'}`;
}

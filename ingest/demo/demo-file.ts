import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import type { EventStore, StoreLogger } from '../../store/event-store.ts';
import { BatchBuilder, MAX_BATCH_BYTES } from '../event/batch-builder.ts';
import { PendingAppends } from '../event/pending-appends.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type MappedRecord, RecordMapper, type ZoneChoice } from '../mapping/record-mapper.ts';
import { decompressed } from '../upload/decompress.ts';
import { MAX_REJECTED, UnreadableInput } from '../upload/intake-report.ts';
import { mapRecords } from '../upload/mapped-records.ts';
import type { DemoFeed } from './demo-feed.ts';

/** Records for which the mapping has no zone are of zone 1. */
const ZONES: ZoneChoice = { given: null, fallback: 1, opens: () => true };
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
  readonly mapping: Mapping;
}

/** What became of the records of a file. */
interface Outcome {
  accepted: number;
  expired: number;
  rejected: number;
  leftOut: number;
  readonly firstReasons: Set<string>;
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
  const { store, now, retentionMs, logger, file, mapping } = options;
  const handle = await open(file);
  try {
    const records = new FileRecords(handle, (await handle.stat()).size, signal);
    const newestMs = await newestTime(records, mapping);
    const source = `demo file ${resolve(file)}`;
    const storedMs = await store.sourceOffset(source, PARTITION);
    const movedByMs = newestMs === null ? 0 : amountOf(newestMs, storedMs, now(), retentionMs);
    const builder = new BatchBuilder(options);
    const appends = new PendingAppends();
    const append = async (): Promise<void> => {
      await appends.room();
      if (newestMs !== null) builder.moveTo(source, PARTITION, BigInt(movedByMs));
      const batch = builder.take();
      appends.add(store.append(batch), { onSettled: () => builder.release(batch) });
    };
    const outcome: Outcome = { accepted: 0, expired: 0, rejected: 0, leftOut: 0, firstReasons: new Set() };
    const receive = (mapped: MappedRecord): void => take(mapped, builder, mapping.name, outcome);
    let fault: string | null;
    try {
      fault = await records.read(new RecordMapper(mapping, ZONES, movedByMs), receive, async () => {
        if (builder.byteLength >= MAX_BATCH_BYTES) await append();
      });
      if (!builder.isEmpty) await append();
    } finally {
      await appends.drained();
    }
    const { firstReasons, ...counts } = outcome;
    const moved = newestMs === null ? 'none of them is an event' : `all times were moved ${amountText(movedByMs)}`;
    const details = { file, mapping: mapping.name, ...counts, duplicates: appends.duplicates, movedByMs };
    logger.info(details, `the records of ${file}: ${countsText(counts, appends.duplicates)}; ${moved}`);
    for (const reason of firstReasons) logger.warn({ file }, `a record of ${file} was rejected: ${reason}`);
    if (fault !== null) logger.warn({ file }, `${file} was not read to its end: ${fault}`);
  } finally {
    await handle.close();
  }
}

/** The records of an open file, which may be read several times. What is appended to the file meanwhile is not read. */
class FileRecords {
  readonly #handle: FileHandle;
  readonly #sizeBytes: number;
  readonly #signal: AbortSignal;

  constructor(handle: FileHandle, sizeBytes: number, signal: AbortSignal) {
    [this.#handle, this.#sizeBytes, this.#signal] = [handle, sizeBytes, signal];
  }

  /** Resolves with the reason why the file cannot be read to its end; null where it was. Rejects with the reason of the signal. */
  async read(mapper: RecordMapper, receive: (mapped: MappedRecord) => void, afterChunk?: () => Promise<void>): Promise<string | null> {
    const bytes = this.#handle.createReadStream({ start: 0, end: Math.max(this.#sizeBytes, 1) - 1, autoClose: false });
    try {
      await mapRecords(decompressed(bytes, 'detected'), mapper, receive, async () => {
        this.#signal.throwIfAborted();
        await afterChunk?.();
        // Searches go on meanwhile.
        await yieldToOthers();
      });
      return null;
    } catch (error) {
      if (error instanceof UnreadableInput) return error.message;
      throw error;
    }
  }
}

/** Unix milliseconds of the newest record that becomes an event; null where none does. */
async function newestTime(records: FileRecords, mapping: Mapping): Promise<number | null> {
  let newestMs: number | null = null;
  await records.read(new RecordMapper(mapping, ZONES), (mapped) => {
    if (mapped.kind === 'event' && mapped.timeMs > (newestMs ?? Number.NEGATIVE_INFINITY)) newestMs = mapped.timeMs;
  });
  return newestMs;
}

/**
 * By how many milliseconds the times are moved. The amount of an earlier start counts as long as the newest record is not past the
 * retention by it: an event with another time would be another event.
 */
function amountOf(newestMs: number, storedMs: bigint | undefined, nowMs: number, retentionMs: number): number {
  const moved = storedMs === undefined ? null : newestMs + Number(storedMs);
  return moved !== null && moved >= nowMs - retentionMs && moved <= nowMs ? Number(storedMs) : nowMs - newestMs;
}

/** Throws `UnreadableInput` where so many records are rejected that the file is probably one for another mapping. */
function take(mapped: MappedRecord, builder: BatchBuilder, mapping: string, outcome: Outcome): void {
  const verdict = mapped.kind === 'event' ? builder.tryEvent(mapped.event) : mapped;
  if (verdict.kind !== 'rejected') {
    outcome[verdict.kind]++;
    return;
  }
  const { reason, zoneId } = verdict;
  outcome.rejected++;
  if (outcome.firstReasons.size < SHOWN_REASONS) outcome.firstReasons.add(reason);
  builder.reject('file', mapped.record, reason, zoneId, mapping);
  if (outcome.rejected >= MAX_REJECTED) throw new UnreadableInput('too_many_rejected', `${MAX_REJECTED} of its records were rejected`);
}

function countsText({ accepted, expired, rejected, leftOut }: Omit<Outcome, 'firstReasons'>, duplicates: number | null): string {
  const already = duplicates === null ? '' : ` (${duplicates} stored already)`;
  return `accepted ${accepted}${already}, expired ${expired}, rejected ${rejected}, left out ${leftOut}`;
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

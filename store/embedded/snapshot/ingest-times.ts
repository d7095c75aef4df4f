import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** The ingest time of the events from a sequence on, up to the next element of a list. */
export interface IngestTime {
  readonly firstSequence: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Packs times, by ascending sequence, into bytes: for each the differences of sequence and time to the one before as LEB128 varints. A
 * batch of events takes three bytes or so. A clock may be set back, so the difference of times has its sign in the lowest bit (zigzag).
 */
export function packIngestTimes(times: readonly IngestTime[]): Uint8Array {
  const bytes: number[] = [];
  let [sequence, ms] = [0n, 0n];
  for (const { firstSequence, atMs } of times) {
    const distance = BigInt(atMs) - ms;
    putNumber(bytes, firstSequence - sequence);
    putNumber(bytes, distance < 0n ? -2n * distance - 1n : 2n * distance);
    [sequence, ms] = [firstSequence, BigInt(atMs)];
  }
  return Uint8Array.from(bytes);
}

export function unpackIngestTimes(packed: Uint8Array): IngestTime[] {
  const times: IngestTime[] = [];
  let [sequence, ms, offset] = [0n, 0n, 0];
  const take = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = packed[offset] ?? 0;
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  while (offset < packed.length) {
    sequence += take();
    const distance = take();
    ms += (distance & 1n) === 1n ? -((distance + 1n) / 2n) : distance / 2n;
    times.push({ firstSequence: sequence, atMs: Number(ms) });
  }
  return times;
}

function putNumber(bytes: number[], value: bigint): void {
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
}

/**
 * Returns a function that looks up the ingest time, Unix milliseconds, of events in ascending order of their sequence. `times` is in any
 * order and has at least one element for each event.
 */
export function ingestClock(times: readonly IngestTime[]): (sequence: bigint) => number {
  const sorted = [...times].sort((a, b) => (a.firstSequence < b.firstSequence ? -1 : 1));
  let index = 0;
  return (sequence) => {
    while ((sorted[index + 1]?.firstSequence ?? sequence + 1n) <= sequence) {
      index += 1;
    }
    return sorted[index]?.atMs ?? 0;
  };
}

/** The parts of a store that say when its events were taken in. */
export interface TimedParts {
  readonly growingSegments: readonly { readonly journals: readonly IngestTime[] }[];
  readonly blobFiles: readonly { readonly minSequence: bigint; readonly ingestTimes: Uint8Array }[];
}

/** When the newest event up to a sequence was taken in, Unix milliseconds; 0 where there is none. */
export function ingestTimeAt({ growingSegments, blobFiles }: TimedParts, sequence: bigint): number {
  const journals = growingSegments.flatMap((part) => part.journals);
  // What is not flushed comes after all that is.
  const unflushed = lastUpTo(journals, sequence, ({ firstSequence }) => firstSequence);
  if (unflushed !== undefined) {
    return unflushed.atMs;
  }
  const { ingestTimes } = lastUpTo(blobFiles, sequence, ({ minSequence }) => minSequence) ?? {};
  const times = ingestTimes === undefined ? [] : unpackIngestTimes(ingestTimes);
  return lastUpTo(times, sequence, ({ firstSequence }) => firstSequence)?.atMs ?? 0;
}

/** The last of the elements, in any order, that begins at a sequence or before it. */
function lastUpTo<T>(all: readonly T[], sequence: bigint, begin: (one: T) => bigint): T | undefined {
  return all.reduce<T | undefined>((last, one) => {
    return begin(one) <= sequence && (last === undefined || begin(one) > begin(last)) ? one : last;
  }, undefined);
}

/** The first sequence that was taken in at a time or later, Unix milliseconds; undefined where there is none. */
export async function firstSequenceFrom({ growingSegments, blobFiles }: TimedParts, timeMs: number): Promise<bigint | undefined> {
  for (const { ingestTimes } of blobFiles.toSorted((a, b) => (a.minSequence < b.minSequence ? -1 : 1))) {
    const first = firstFrom(unpackIngestTimes(ingestTimes), timeMs);
    if (first !== undefined) {
      return first;
    }
    // There may be thousands of blob files.
    await yieldToOthers();
  }
  return firstFrom(
    growingSegments.flatMap(({ journals }) => journals),
    timeMs,
  );
}

function firstFrom(times: readonly IngestTime[], timeMs: number): bigint | undefined {
  const later = times.filter(({ atMs }) => atMs >= timeMs).map(({ firstSequence }) => firstSequence);
  return later.reduce<bigint | undefined>((first, one) => (first === undefined || one < first ? one : first), undefined);
}

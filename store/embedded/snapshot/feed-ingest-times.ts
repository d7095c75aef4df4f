/** When the events from a sequence on were taken in, until the next of the list. */
export interface IngestTime {
  readonly firstSequence: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/**
 * A list of times, by ascending sequence, as bytes: for each the distances of sequence and time to the one before, in sevens of bits with
 * the highest of a byte set where more follow. A batch of events takes three bytes or so. A clock may be set back, so distances of time
 * have their sign in the lowest bit.
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
  let [sequence, ms, place] = [0n, 0n, 0];
  const take = (): bigint => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = packed[place] ?? 0;
      place += 1;
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  while (place < packed.length) {
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
 * Looks up the times of events in ascending order of their sequence. `times` is in any order; each of the events is behind at least one.
 */
export function ingestClock(times: readonly IngestTime[]): (sequence: bigint) => number {
  const sorted = [...times].sort((a, b) => (a.firstSequence < b.firstSequence ? -1 : 1));
  let place = 0;
  return (sequence) => {
    while ((sorted[place + 1]?.firstSequence ?? sequence + 1n) <= sequence) {
      place += 1;
    }
    return sorted[place]?.atMs ?? 0;
  };
}

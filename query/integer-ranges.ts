/** A range of integers that includes both ends. */
export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

export const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
export const INT64: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** The number that a text writes in at most 19 decimal digits; null where it is none, or not from `min` to `max`. */
export function wholeNumberIn(text: string, min: number | bigint, max: number | bigint): bigint | null {
  // `BigInt` and `Number` would also take `0x10`, blanks and an empty text.
  const value = /^\d{1,19}$/.test(text) ? BigInt(text) : null;
  return value !== null && value >= min && value <= max ? value : null;
}

/** A range of integers that includes both ends. */
export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

export const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
export const INT64: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

import type { ErrorList } from './error-list.ts';
import { exactInteger } from './exact-integer.ts';
import { JsonNumber, type JsonValue } from './exact-json.ts';
import { shownValue } from './shown-value.ts';

/** Both ends are allowed. */
export interface IntegerRange {
  readonly least: bigint;
  readonly most: bigint;
}

export const INT32: IntegerRange = { least: -(2n ** 31n), most: 2n ** 31n - 1n };
export const INT64: IntegerRange = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** An integer of the range; anything else is added to the errors and comes back as undefined. */
export function readInteger(value: JsonValue, path: string, { least, most }: IntegerRange, errors: ErrorList): bigint | undefined {
  const integer = value instanceof JsonNumber ? exactInteger(value.source) : null;
  if (integer === null || integer < least || integer > most) {
    errors.add(path, `must be an integer from ${least} to ${most}, not ${shownValue(value)}`);
    return undefined;
  }
  return integer;
}

import type { ErrorList } from './error-list.ts';
import type { JsonValue } from './exact-json.ts';
import { shownValue } from './shown-value.ts';

/** An array of at most `most` elements (each `of` something, for the message); otherwise an error is added and undefined comes back. */
export function readList(
  value: JsonValue,
  path: string,
  { of, most }: { readonly of: string; readonly most: number },
  errors: ErrorList,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(value)) {
    errors.add(path, `must be an array of ${of}, not ${shownValue(value)}`);
    return undefined;
  }
  const elements = value as readonly JsonValue[];
  if (elements.length > most) {
    errors.add(path, `must have at most ${most} elements, not ${elements.length}`);
    return undefined;
  }
  return elements;
}

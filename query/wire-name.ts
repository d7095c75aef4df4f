import type { ErrorList } from './error-list.ts';
import type { JsonValue } from './exact-json.ts';
import { shownValue } from './shown-value.ts';

/** One of the given names, in their case; anything else is added to the errors and comes back as undefined. */
export function readName<Name extends string>(
  value: JsonValue | undefined,
  path: string,
  names: readonly Name[],
  errors: ErrorList,
): Name | undefined {
  const name = names.find((candidate) => candidate === value);
  if (name === undefined) {
    errors.add(path, `must be one of ${names.join(', ')}, not ${shownValue(value)}`);
  }
  return name;
}

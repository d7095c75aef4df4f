import { DIMENSIONS, type Dimension } from './dimensions.ts';
import type { ErrorList } from './error-list.ts';
import type { JsonValue } from './exact-json.ts';
import { elementPath } from './json-path.ts';
import { shownValue } from './shown-value.ts';
import { readList } from './wire-list.ts';
import { readName } from './wire-name.ts';

/** Reads `groupBy`: dimensions in their order, none twice; null is none. What is wrong is added to the errors. */
export function readGroupBy(value: JsonValue, path: string, errors: ErrorList): readonly Dimension[] {
  if (value === null) {
    return [];
  }
  const names = readList(value, path, { of: 'dimensions', most: DIMENSIONS.length }, errors) ?? [];
  const dimensions = new Set<Dimension>();
  for (const [index, name] of names.entries()) {
    const dimension = readName(name, elementPath(path, index), DIMENSIONS, errors);
    if (dimension !== undefined && dimensions.has(dimension)) {
      errors.add(elementPath(path, index), `must not repeat a dimension, as ${shownValue(name)} does`);
    }
    if (dimension !== undefined) {
      dimensions.add(dimension);
    }
  }
  return [...dimensions];
}

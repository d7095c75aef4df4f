import type { ErrorList } from './error-list.ts';
import type { JsonObject, JsonValue } from './exact-json.ts';
import { propertyPath } from './json-path.ts';
import { shownValue } from './shown-value.ts';

/** A JSON object with none but the named properties; what is wrong is added to the errors. Undefined where it is no object. */
export function readObject(value: JsonValue, path: string, allowed: readonly string[], errors: ErrorList): JsonObject | undefined {
  if (!isObject(value)) {
    errors.add(path, `must be an object with the properties ${allowed.join(', ')}, not ${shownValue(value)}`);
    return undefined;
  }
  for (const name of value.keys()) {
    if (!allowed.includes(name)) {
      errors.add(propertyPath(path, name), `is not a property of this object; allowed are ${allowed.join(', ')}`);
    }
  }
  return value;
}

function isObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

import type { ErrorList } from './error-list.ts';
import type { JsonValue } from './exact-json.ts';
import { SEARCH_LIMITS } from './search-limits.ts';
import { shownValue } from './shown-value.ts';

/**
 * A text to search for; anything else is added to the errors and comes back as undefined. Half a surrogate pair is refused: it is no
 * Unicode text, cannot be stored as UTF-8 and so would match nothing, or, replaced by U+FFFD on its way, the wrong thing.
 */
export function readText(value: JsonValue, path: string, errors: ErrorList): string | undefined {
  if (typeof value !== 'string') {
    errors.add(path, `must be a string, not ${shownValue(value)}`);
    return undefined;
  }
  if (value.length > SEARCH_LIMITS.textLength) {
    errors.add(path, `must have at most ${SEARCH_LIMITS.textLength} characters, not ${value.length}: ${shownValue(value)}`);
    return undefined;
  }
  if (!value.isWellFormed()) {
    errors.add(path, `must be Unicode text, without half a surrogate pair: ${shownValue(value)}`);
    return undefined;
  }
  return value;
}

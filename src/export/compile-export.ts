import { compileConditions, parseSearchBody, type SearchContext } from '../../query/compile-search.ts';
import { ErrorList } from '../../query/error-list.ts';
import type { JsonObject } from '../../query/exact-json.ts';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import { BODY } from '../../query/json-path.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import { readConditions } from '../../query/search-request.ts';
import { searchWindow } from '../../query/search-window.ts';
import { INT64, readInteger } from '../../query/wire-integer.ts';
import { readObject } from '../../query/wire-object.ts';

const PROPERTIES = ['from', 'to', 'query', 'filters'];

/**
 * Compiles the body of an export, JSON in UTF-8, into the plan of all its rows: the body of a search without what makes pages and groups.
 * Throws {@link InvalidSearchError} with everything that is wrong.
 */
export function compileExport(body: Uint8Array, { zoneId, nowMs }: SearchContext): SearchPlan {
  const errors = new ErrorList();
  const fields = readObject(parseSearchBody(body), BODY, PROPERTIES, errors);
  if (fields === undefined) throw new InvalidSearchError(errors.toArray());
  const window = searchWindow(readTime(fields, 'from', errors), readTime(fields, 'to', errors), nowMs, errors);
  const where = compileConditions(readConditions(fields, errors), errors);
  if (window === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  return { zoneId, window, where, page: { index: 0, size: 1 }, output: { kind: 'rows' } };
}

function readTime(fields: JsonObject, name: 'from' | 'to', errors: ErrorList): bigint | undefined {
  const value = fields.get(name);
  if (value !== undefined) return readInteger(value, name, INT64, errors);
  errors.add(name, 'is required: Unix milliseconds, UTC');
  return undefined;
}

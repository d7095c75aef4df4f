import { compileConditions, parseSearchBody } from './compile-search.ts';
import { ErrorList } from './error-list.ts';
import { InvalidSearchError } from './invalid-search-error.ts';
import { BODY } from './json-path.ts';
import type { Predicate } from './predicate.ts';
import { readConditions } from './search-request.ts';
import { readObject } from './wire-object.ts';

/**
 * What events must fulfil by a request that has nothing but conditions: JSON in UTF-8 with `query` and `filters`, both optional, by the
 * same rules and limits as in a search. Throws {@link InvalidSearchError} with everything that is wrong.
 */
export function compileMatchRequest(body: Uint8Array): Predicate {
  const errors = new ErrorList();
  const fields = readObject(parseSearchBody(body), BODY, ['query', 'filters'], errors);
  const where = fields === undefined ? undefined : compileConditions(readConditions(fields, errors), errors);
  if (where === undefined || !errors.isEmpty) throw new InvalidSearchError(errors.toArray());
  return where;
}

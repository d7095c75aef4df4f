import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { compileSearch } from '../../../query/request/compile-search.ts';
import { type FieldError, InvalidSearchError } from '../../../query/request/request-errors.ts';

/** The time of every request in these tests. */
export const NOW = 1_790_000_000_000;

export const HOUR = 3_600_000;

/** The plan of a request body given as text. */
export function compileText(body: string): SearchPlan {
  return compileSearch(new TextEncoder().encode(body), { zoneId: 7, nowMs: NOW });
}

/** The plan of a request over the last hour with these further fields. */
export function compileWith(fields: object): SearchPlan {
  return compileText(JSON.stringify({ from: NOW - HOUR, to: NOW, ...fields }));
}

/** Returns the errors of a request body given as text; throws if there are none. */
export function errorsOf(body: string | Uint8Array): readonly FieldError[] {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  try {
    compileSearch(bytes, { zoneId: 7, nowMs: NOW });
  } catch (error) {
    if (error instanceof InvalidSearchError) {
      return error.errors;
    }
    throw error;
  }
  throw new Error(`the body was accepted: ${body}`);
}

/** Returns the errors of a request over the last hour with these further fields. */
export function errorsWith(fields: object): readonly FieldError[] {
  return errorsOf(JSON.stringify({ from: NOW - HOUR, to: NOW, ...fields }));
}

import { ErrorList } from '../../query/error-list.ts';
import type { FieldError } from '../../query/invalid-search-error.ts';
import { BODY, propertyPath } from '../../query/json-path.ts';
import { cutText } from '../../query/shown-value.ts';
import { RequestProblem } from './problem.ts';

type RawQuery = Readonly<Record<string, unknown>>;

/** The problem that names everything wrong with a request; `errors` has at least one entry. */
export function invalidRequest(errors: readonly FieldError[], cause?: unknown): RequestProblem {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = first === undefined ? 'The request is invalid' : `${first.field}: ${first.message}${more}`;
  return new RequestProblem('request.invalid', detail, { errors, cause });
}

/** Reads one parameter; undefined where it is absent. What is wrong is added to the errors under `name`. */
export type Reader<Value> = (value: unknown, name: string, errors: ErrorList) => Value | undefined;

/** A parameter as it was written, quoted and cut to a sane length. */
function shown(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : JSON.stringify(cutText(String(value)));
}

/** A whole number in decimal digits, both ends allowed; they are at most 2^53-1. */
export function wholeNumber(least: number, most: number): Reader<number> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    errors.add(name, `must be a whole number ${least}..${most}, not ${shown(value)}`);
    return undefined;
  };
}

/** One of the given words, in their case. */
export function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) errors.add(name, `must be one of ${words.join(', ')}, not ${shown(value)}`);
    return word;
  };
}

/**
 * The query parameters that have a reader, by name. Throws RequestProblem `request.invalid` with everything that is wrong: a value, a
 * parameter that is given twice, one that the route does not have.
 */
export function readQuery<Values extends Readonly<Record<string, unknown>>>(
  query: unknown,
  readers: { readonly [Name in keyof Values]: Reader<Values[Name]> },
): { readonly [Name in keyof Values]?: Values[Name] } {
  const errors = new ErrorList();
  const names = Object.keys(readers);
  const given = (query ?? {}) as RawQuery;
  const values = Object.entries<Reader<unknown>>(readers).map(([name, read]) => [name, read(given[name], name, errors)]);
  for (const name of Object.keys(given).filter((candidate) => !names.includes(candidate))) {
    const allowed = names.length === 0 ? 'there are none' : `allowed are ${names.join(', ')}`;
    errors.add(propertyPath(BODY, name), `is not a query parameter of this path; ${allowed}`);
  }
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

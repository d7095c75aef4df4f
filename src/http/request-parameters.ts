import { wholeNumberIn } from '../../query/integer-ranges.ts';
import type { TimeWindow } from '../../query/plan/search-plan.ts';
import { BODY, cutText, ErrorList, propertyPath } from '../../query/request/request-errors.ts';
import { checkWindow, TIME_REQUIRED } from '../../query/request/request-window.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { invalidRequest, RequestProblem } from './problem.ts';

export type RawQuery = Readonly<Record<string, unknown>>;

/** Reads one parameter; undefined where it is absent. Faults are added to the errors under `name`. */
export type Reader<Value> = (value: unknown, name: string, errors: ErrorList) => Value | undefined;

/** The value as it was written, quoted and cut. */
export function shownParameter(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : JSON.stringify(cutText(String(value)));
}

/** A whole number in decimal digits, both ends included, at most 2^53-1. */
export function wholeNumberParameter(min: number, max: number): Reader<number> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' ? wholeNumberIn(value, min, max) : null;
    if (number !== null) return Number(number);
    errors.add(name, `must be a whole number ${min}..${max}, not ${shownParameter(value)}`);
    return undefined;
  };
}

/** The id of a shield zone in decimal digits. */
export const zoneParameter: Reader<number> = (value, name, errors) => {
  if (value === undefined) return undefined;
  const zoneId = typeof value === 'string' ? zoneIdIn(value) : null;
  if (zoneId !== null) return zoneId;
  errors.add(name, `must be a whole number ${ZONE_ID_RANGE}, not ${shownParameter(value)}`);
  return undefined;
};

/** Any text. */
export const textParameter: Reader<string> = (value, name, errors) => {
  if (value === undefined || typeof value === 'string') return value;
  errors.add(name, 'must be given once');
  return undefined;
};

/** One of the words, case-sensitive. */
export function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) errors.add(name, `must be one of ${words.join(', ')}, not ${shownParameter(value)}`);
    return word;
  };
}

/**
 * Reads the query parameters by their readers. Throws RequestProblem `request.invalid` with all faults: wrong values, parameters given
 * twice, and parameters that the route does not have.
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

/**
 * The window of the query parameters `from` and `to`, both required, by the rules of a search. Throws RequestProblem `request.invalid` with
 * all faults.
 */
export function queryWindow(query: unknown, nowMs: number): TimeWindow {
  const time: Reader<bigint> = (value, name, errors) => {
    if (value === undefined) errors.add(name, TIME_REQUIRED);
    const number = wholeNumberParameter(0, Number.MAX_SAFE_INTEGER)(value, name, errors);
    return number === undefined ? undefined : BigInt(number);
  };
  const { from, to } = readQuery<{ from: bigint; to: bigint }>(query, { from: time, to: time });
  const errors = new ErrorList();
  const window = checkWindow({ from, to }, nowMs, errors);
  if (window === undefined) throw invalidRequest(errors.toArray());
  return window;
}

/** Parses the `shieldZoneId` of a path. Throws RequestProblem `request.invalid` unless it is a zone id. */
export function parseZoneId(text: string): number {
  const zoneId = zoneIdIn(text);
  if (zoneId !== null) return zoneId;
  const message = `${JSON.stringify(cutText(text))} is not a whole number ${ZONE_ID_RANGE}`;
  throw new RequestProblem('request.invalid', `shieldZoneId: ${message}`, { errors: [{ field: 'shieldZoneId', message }] });
}

import { shown } from '../../shown-value.ts';
import { StatementError } from './statement-error.ts';

/** An object of a request that has been read as JSON. */
export type WireObject = Readonly<Record<string, unknown>>;

/** An error that names the place in the request, the value and what is allowed. */
export function wrongAt(place: string, value: unknown, allowed: string): StatementError {
  return new StatementError('REQUEST_INVALID', `${place} is ${shown(value)}; allowed: ${allowed}`);
}

/** Throws StatementError where the value is not an object. */
export function objectAt(place: string, value: unknown): WireObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongAt(place, value, 'an object');
  return value as WireObject;
}

/** Throws StatementError where the value is not a list of up to `most` items; absent and null are an empty one. */
export function listAt(place: string, value: unknown, most: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongAt(place, value, 'a list');
  if (value.length > most) throw new StatementError('REQUEST_INVALID', `${place} has ${value.length} items; allowed: up to ${most}`);
  return value;
}

/** Throws StatementError where the value is not a string, or one that UTF-8 cannot carry: the database would keep another. */
export function textAt(place: string, value: unknown): string {
  if (typeof value !== 'string') throw wrongAt(place, value, 'a string');
  if (!value.isWellFormed()) throw wrongAt(place, value, 'a string without half of a surrogate pair');
  return value;
}

/** Throws StatementError where the value is not a whole number from 0 to `most`. */
export function wholeAt(place: string, value: unknown, most = 2_147_483_647): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > most) {
    throw wrongAt(place, value, `a whole number 0..${most}`);
  }
  return value;
}

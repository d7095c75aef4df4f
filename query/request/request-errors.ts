import { JsonNumber, type JsonValue } from '../json-value.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';

/** One thing that is wrong with a request. */
export interface FieldError {
  /** The JSON path of the value, such as `filters[0].value[2]`; the body itself is `$`. Never empty. */
  readonly field: string;
  /** Says what is allowed and what was found. */
  readonly message: string;
}

/** A search request that cannot be answered; `errors` has everything that is wrong with it, at least one entry. */
export class InvalidSearchError extends Error {
  override readonly name = 'InvalidSearchError';
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super(errors.map(({ field, message }) => `${field} ${message}`).join('; '));
    this.errors = errors;
  }
}

/** Collects the errors of a request while it is read. Errors past the limit are only counted, which keeps the answer small. */
export class ErrorList {
  readonly #listed: FieldError[] = [];
  #unlisted = 0;

  add(field: string, message: string): void {
    if (this.#listed.length < SEARCH_LIMITS.listedErrors) {
      this.#listed.push({ field, message });
    } else {
      this.#unlisted += 1;
    }
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  toArray(): readonly FieldError[] {
    return this.#unlisted === 0
      ? this.#listed
      : [...this.#listed, { field: BODY, message: `has ${this.#unlisted} more errors that are not listed` }];
  }
}

/** The path of the body itself. */
export const BODY = '$';

/** The path of a property: `from` in the body, `filters[0].op` below it, `["odd name"]` if the name is no identifier. */
export function propertyPath(parent: string, name: string): string {
  const isPlain = /^[A-Za-z_$][\w$]{0,63}$/.test(name);
  const step = isPlain ? name : `[${JSON.stringify(cutText(name))}]`;
  if (parent === BODY) {
    return step;
  }
  return isPlain ? `${parent}.${step}` : `${parent}${step}`;
}

export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

/** UTF-16 units of a value that a message quotes. */
const MAX_SHOWN = 80;

/** The first 80 UTF-16 units of a text, followed by `…` if there are more; never half a surrogate pair. */
export function cutText(text: string): string {
  if (text.length <= MAX_SHOWN) {
    return text;
  }
  const endsInPair = text.charCodeAt(MAX_SHOWN - 1) >>> 10 === 0xd800 >>> 10;
  return `${text.slice(0, endsInPair ? MAX_SHOWN - 1 : MAX_SHOWN)}…`;
}

/** A value as messages quote it: JSON, cut by {@link cutText}; arrays and objects are only named. */
export function shownValue(value: JsonValue | undefined): string {
  if (value === undefined) {
    return 'nothing';
  }
  if (typeof value === 'string') {
    return JSON.stringify(cutText(value));
  }
  if (value instanceof JsonNumber) {
    return cutText(value.source);
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

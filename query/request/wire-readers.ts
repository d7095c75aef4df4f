import { type JsonLimits, JsonSyntaxError, parseExactJson } from '../exact-json.ts';
import type { IntegerRange } from '../integer-ranges.ts';
import { exactInteger, JsonNumber, type JsonObject, type JsonValue } from '../json-value.ts';
import { BODY, type ErrorList, propertyPath, shownValue } from './request-errors.ts';

/**
 * Readers of the parts of a request. Each returns the value in its type, or adds an error under `path` and returns undefined, so that the
 * rest of the request can still be checked.
 */

/** The JSON value of a body in UTF-8. */
export function readJson(body: Uint8Array, limits: JsonLimits, errors: ErrorList): JsonValue | undefined {
  const text = decodeUtf8(body);
  if (typeof text === 'number') {
    errors.add(BODY, `must be UTF-8; the byte at offset ${text} is not`);
    return undefined;
  }
  try {
    return parseExactJson(text, limits);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    errors.add(BODY, `must be JSON: ${error.message}`);
    return undefined;
  }
}

/** The text of UTF-8 bytes without a byte order mark at the start, or the offset of the first byte that is not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | number {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return firstBadByte(bytes);
  }
}

/** Lenient decoding replaces bad bytes by U+FFFD, so the bytes of its result differ first at the first bad byte. */
function firstBadByte(bytes: Uint8Array): number {
  const repaired = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const differing = repaired.findIndex((byte, index) => byte !== bytes[index]);
  return differing === -1 ? bytes.length : differing;
}

export function readInteger(value: JsonValue | undefined, path: string, { min, max }: IntegerRange, errors: ErrorList): bigint | undefined {
  const integer = value instanceof JsonNumber ? exactInteger(value.source) : null;
  if (integer === null || integer < min || integer > max) {
    errors.add(path, `must be an integer from ${min} to ${max}, not ${shownValue(value)}`);
    return undefined;
  }
  return integer;
}

/** An array of at most `max` elements; `of` names the elements in messages. */
export function readList(
  value: JsonValue,
  path: string,
  { of, max }: { readonly of: string; readonly max: number },
  errors: ErrorList,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(value)) {
    errors.add(path, `must be an array of ${of}, not ${shownValue(value)}`);
    return undefined;
  }
  const elements = value as readonly JsonValue[];
  if (elements.length > max) {
    errors.add(path, `must have at most ${max} elements, not ${elements.length}`);
    return undefined;
  }
  return elements;
}

/** One of the given names, in their case. */
export function readName<Name extends string>(
  value: JsonValue | undefined,
  path: string,
  names: readonly Name[],
  errors: ErrorList,
): Name | undefined {
  const name = names.find((candidate) => candidate === value);
  if (name === undefined) {
    errors.add(path, `must be one of ${names.join(', ')}, not ${shownValue(value)}`);
  }
  return name;
}

/** An object. A property that is not `allowed` is an error, but the object is returned. What is undefined was told to be wrong before. */
export function readObject(
  value: JsonValue | undefined,
  path: string,
  allowed: readonly string[],
  errors: ErrorList,
): JsonObject | undefined {
  if (value === undefined) return undefined;
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

/**
 * A text to search for. Half a surrogate pair is an error: it cannot be stored as UTF-8, so it would match nothing, or events with U+FFFD
 * after a replacement.
 */
export function readText(value: JsonValue, path: string, errors: ErrorList): string | undefined {
  if (typeof value !== 'string') {
    errors.add(path, `must be a string, not ${shownValue(value)}`);
    return undefined;
  }
  if (!value.isWellFormed()) {
    errors.add(path, `must be Unicode text, without half a surrogate pair: ${shownValue(value)}`);
    return undefined;
  }
  return value;
}

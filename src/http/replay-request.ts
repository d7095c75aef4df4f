import { ErrorList } from '../../query/error-list.ts';
import { type JsonLimits, JsonSyntaxError, type JsonValue, parseExactJson } from '../../query/exact-json.ts';
import { BODY, elementPath } from '../../query/json-path.ts';
import { shownValue } from '../../query/shown-value.ts';
import { decodeUtf8 } from '../../query/utf8-text.ts';
import { readInteger } from '../../query/wire-integer.ts';
import { readObject } from '../../query/wire-object.ts';
import { invalidRequest } from './query-parameters.ts';

/** An object with a list is two deep; a little more gives better messages. Reading so many ids takes some 50 ms. */
export const DEAD_LETTER_BODY_LIMITS: JsonLimits = { depth: 8, values: 100_000 };
/** Ids are SQLite's row ids, of which JavaScript holds those exactly. */
const DEAD_LETTER_ID = { least: 0n, most: BigInt(Number.MAX_SAFE_INTEGER) };

function parse(body: Uint8Array, errors: ErrorList): JsonValue | undefined {
  const text = decodeUtf8(body);
  if (typeof text === 'number') {
    errors.add(BODY, `must be UTF-8; the byte at offset ${text} is not`);
    return undefined;
  }
  try {
    return parseExactJson(text, DEAD_LETTER_BODY_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    errors.add(BODY, `must be JSON: ${error.message}`);
    return undefined;
  }
}

function readIds(value: JsonValue, whole: string, errors: ErrorList): readonly number[] | undefined {
  if (!Array.isArray(value)) {
    // Also null: who asks for certain ones by mistake gets none, not all of them.
    errors.add('ids', `must be an array of ids of dead letters, or be left out ${whole}, not ${shownValue(value)}`);
    return undefined;
  }
  return (value as readonly JsonValue[]).map((id, index) => Number(readInteger(id, elementPath('ids', index), DEAD_LETTER_ID, errors)));
}

/**
 * The ids that a replay names; undefined, which is all of them, for no body, an empty one and `{}`. Throws RequestProblem
 * `request.invalid`.
 */
export function readReplayRequest(body: Uint8Array | undefined): readonly number[] | undefined {
  if (body === undefined || body.length === 0) return undefined;
  const errors = new ErrorList();
  const parsed = parse(body, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['ids'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, 'for all of them', errors) : undefined;
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return ids;
}

/**
 * The ids to discard; undefined for `{"all":true}`. Nothing is gone for good by a body that was left out. Throws RequestProblem
 * `request.invalid`.
 */
export function readDiscardRequest(body: Uint8Array | undefined): readonly number[] | undefined {
  const errors = new ErrorList();
  const parsed = body === undefined || body.length === 0 ? new Map<string, JsonValue>() : parse(body, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['ids', 'all'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, 'where all is true', errors) : undefined;
  const all = object?.get('all');
  if (errors.isEmpty && all !== undefined && all !== true) errors.add('all', `must be true, or be left out, not ${shownValue(all)}`);
  if (errors.isEmpty && (all === true) === object?.has('ids'))
    errors.add(BODY, 'must have either ids, an array of ids of dead letters, or all, which is true');
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return ids;
}

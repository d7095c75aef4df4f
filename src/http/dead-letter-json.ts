import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { lettersOf } from '../../ingest/upload/dead-letter-replay.ts';
import type { JsonLimits, JsonValue } from '../../query/exact-json.ts';
import { BODY, ErrorList, elementPath, shownValue } from '../../query/request/request-errors.ts';
import { readInteger, readJson, readObject } from '../../query/request/wire-readers.ts';
import type { DeadLetterSelection, EventStore, StoredDeadLetter } from '../../store/event-store.ts';
import { invalidRequest } from './problem.ts';

/** The bytes that are written at once; more would delay other requests. It is a multiple of 3, so that base64 parts fit together. */
const PART_BYTES = 3 * 64 * 1024;

/** The most dead letters of one answer. */
export const MAX_LISTED_LETTERS = 10_000;
export const DEFAULT_LISTED_LETTERS = 100;

/** Letters that are read from the store together. */
const READ_AT_ONCE = 100;

/** The bytes as the inside of a JSON string, in parts. */
function* textParts(bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let start = 0; start < bytes.length; start += PART_BYTES) {
    // A character that is cut in two comes whole with the next part.
    yield JSON.stringify(decoder.decode(bytes.subarray(start, start + PART_BYTES), { stream: true })).slice(1, -1);
  }
}

function* base64Parts(bytes: Uint8Array): Generator<string> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(PART_BYTES, bytes.length - start)).toString('base64');
  }
}

/** A dead letter as JSON. Its kept bytes are `text`, or `base64` where they are not UTF-8. */
function* letterParts({ bytes, offset, zoneId: shieldZoneId, isWhole: replayable, ...letter }: StoredDeadLetter): Generator<string> {
  const head = JSON.stringify({ ...letter, offset: offset?.toString() ?? null, shieldZoneId, replayable });
  const isText = isUtf8(bytes);
  yield `${head.slice(0, -1)},"${isText ? 'text' : 'base64'}":"`;
  yield* isText ? textParts(bytes) : base64Parts(bytes);
  yield '"}';
}

/** The JSON of up to `limit` dead letters of the zones after an id, in parts. Other requests have a turn between two parts. */
export async function* deadLetterList(
  store: EventStore,
  { zones, afterId = 0, limit }: Pick<DeadLetterSelection, 'zones' | 'afterId' | 'limit'>,
): AsyncGenerator<string> {
  let [listed, last, more] = [0, afterId, false];
  // This waits for the first letter, so that one that cannot be read is answered with 500.
  let opening = '{"deadLetters":[';
  for await (const letter of lettersOf(store, { zones, afterId, limit: READ_AT_ONCE })) {
    if (listed === limit) {
      more = true;
      break;
    }
    for (const part of letterParts(letter)) {
      yield opening + part;
      opening = '';
      await yieldToOthers();
    }
    opening = ',';
    listed += 1;
    last = letter.id;
  }
  yield `${listed === 0 ? opening : ''}],"nextAfterId":${more ? last : 'null'}}`;
}

/** An object with a list has depth 2; a little more gives better messages. Reading so many ids takes some 50 ms. */
export const DEAD_LETTER_BODY_LIMITS: JsonLimits = { depth: 8, values: 100_000 };
/** Ids are SQLite's row ids. JavaScript holds these exactly. */
const DEAD_LETTER_ID = { min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) };

function readIds(value: JsonValue, whole: string, errors: ErrorList): readonly number[] | undefined {
  if (!Array.isArray(value)) {
    // null is refused, too: it stands for no list in some languages, and must not select all letters.
    errors.add('ids', `must be an array of ids of dead letters, or be left out ${whole}, not ${shownValue(value)}`);
    return undefined;
  }
  return (value as readonly JsonValue[]).map((id, index) => Number(readInteger(id, elementPath('ids', index), DEAD_LETTER_ID, errors)));
}

/** Returns the ids that a replay names, or undefined for all: no body, an empty one, or `{}`. Throws RequestProblem `request.invalid`. */
export function readReplayRequest(body: Uint8Array | undefined): readonly number[] | undefined {
  if (body === undefined || body.length === 0) return undefined;
  const errors = new ErrorList();
  const parsed = readJson(body, DEAD_LETTER_BODY_LIMITS, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['ids'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, 'for all of them', errors) : undefined;
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return ids;
}

/**
 * Returns the ids to discard, or undefined for `{"all":true}`. A missing body discards nothing. Throws RequestProblem `request.invalid`.
 */
export function readDiscardRequest(body: Uint8Array | undefined): readonly number[] | undefined {
  const errors = new ErrorList();
  const parsed = body === undefined || body.length === 0 ? new Map<string, JsonValue>() : readJson(body, DEAD_LETTER_BODY_LIMITS, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['ids', 'all'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, 'where all is true', errors) : undefined;
  const all = object?.get('all');
  if (errors.isEmpty && all !== undefined && all !== true) errors.add('all', `must be true, or be left out, not ${shownValue(all)}`);
  if (errors.isEmpty && (all === true) === object?.has('ids'))
    errors.add(BODY, 'must have either ids, an array of ids of dead letters, or all, which is true');
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return ids;
}

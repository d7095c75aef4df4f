import { isUtf8 } from 'node:buffer';
import type { JsonLimits } from '../../query/exact-json.ts';
import { exactInteger, JsonNumber, type JsonValue } from '../../query/json-value.ts';
import { BODY, ErrorList, elementPath, shownValue } from '../../query/request/request-errors.ts';
import { readJson, readObject } from '../../query/request/wire-readers.ts';
import type { DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../../store/dead-letter.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { HeldPart, Hold } from './answer-memory.ts';
import { invalidRequest } from './problem.ts';

/** The bytes that are made text at once; more would delay other requests. It is a multiple of 3, so that base64 parts fit together. */
const PART_BYTES = 3 * 64 * 1024;

/** The most dead letters of one answer. */
export const MAX_LISTED_LETTERS = 10_000;
export const DEFAULT_LISTED_LETTERS = 100;

/** Letters that are read from the store together, at most. */
const READ_AT_ONCE = 100;

/** A store gives fewer letters than it was asked for where these have more bytes, or where there are no more. */
const SHORT_LIST_BYTES = 1024 * 1024;

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

type ListedLetters = Pick<DeadLetterSelection, 'zones' | 'afterId' | 'limit'>;

/** Letters that are in memory together. */
interface LetterPage extends HeldPart {
  readonly letters: readonly StoredDeadLetter[];
  /** Where the list goes on behind these; null where there are no more, or the limit is not reached. */
  readonly nextAfterId: string | null;
}

/** Up to `limit` letters, page by page. The last page may be empty. */
async function* letterPages(store: EventStore, { zones, afterId, limit }: ListedLetters): AsyncGenerator<LetterPage, void, void> {
  for (let [left, after] = [limit, afterId]; ; ) {
    // One more than are left tells whether there are more.
    const asked = Math.min(READ_AT_ONCE, left + 1);
    const found = await store.listDeadLetters({ zones, ...(after === undefined ? {} : { afterId: after }), limit: asked });
    const letters = found.slice(0, left);
    const bytes = found.reduce((sum, letter) => sum + letter.bytes.length, 0);
    left -= letters.length;
    after = letters.at(-1)?.id ?? after;
    const isOver = found.length === 0 || found.length > letters.length;
    yield {
      letters,
      bytes,
      isLast: isOver || (found.length < asked && bytes < SHORT_LIST_BYTES),
      nextAfterId: found.length > letters.length ? (after ?? null) : null,
    };
    if (isOver) return;
  }
}

function* listParts(letters: readonly StoredDeadLetter[], before: string): Generator<string> {
  let separator = before;
  for (const letter of letters) {
    yield separator;
    yield* letterParts(letter);
    separator = ',';
  }
}

/** The list of up to `limit` dead letters of the zones after an id, as the pieces of an answer. */
export async function* deadLetterList(store: EventStore, listed: ListedLetters, hold: Hold): AsyncGenerator<Iterable<string>, void, void> {
  let before = '{"deadLetters":[';
  let next: string | null = null;
  for await (const { letters, nextAfterId } of hold(letterPages(store, listed))) {
    yield listParts(letters, before);
    if (letters.length > 0) before = ',';
    next = nextAfterId;
  }
  yield [`${before === ',' ? '' : before}],"nextAfterId":${JSON.stringify(next)}}`];
}

/** An object with a list has depth 2; a little more gives better messages. Reading so many ids takes some 50 ms. */
export const DEAD_LETTER_BODY_LIMITS: JsonLimits = { depth: 8, values: 100_000 };

function readIds(value: JsonValue, idForm: DeadLetterIds, whole: string, errors: ErrorList): readonly string[] | undefined {
  if (!Array.isArray(value)) {
    // null is refused, too: it stands for no list in some languages, and must not select all letters.
    errors.add('ids', `must be an array of ids of dead letters, or be left out ${whole}, not ${shownValue(value)}`);
    return undefined;
  }
  return (value as readonly JsonValue[]).flatMap((named, index) => {
    const written = named instanceof JsonNumber ? exactInteger(named.source) : named;
    const id = typeof written === 'string' || typeof written === 'bigint' ? idForm.parse(written) : null;
    if (id === null) errors.add(elementPath('ids', index), `must be the id of a dead letter, ${idForm.allowed}, not ${shownValue(named)}`);
    return id ?? [];
  });
}

/** What a replay is asked for. */
export interface ReplayRequest {
  /** Absent: all letters. */
  readonly ids?: readonly string[];
  /** The mapping by which these letters become events, in the place of their own. */
  readonly mapping?: string;
}

/**
 * Reads what a replay is asked for; no body, an empty one, or `{}` is all letters. Throws RequestProblem `request.invalid`, also for a
 * mapping that is none of these.
 */
export function readReplayRequest(body: Uint8Array, idForm: DeadLetterIds, mappings: readonly string[]): ReplayRequest {
  if (body.length === 0) return {};
  const errors = new ErrorList();
  const object = readObject(readJson(body, DEAD_LETTER_BODY_LIMITS, errors), BODY, ['ids', 'mapping'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, idForm, 'for all of them', errors) : undefined;
  const named = object?.get('mapping');
  const mapping = mappings.find((name) => name === named);
  if (named !== undefined && mapping === undefined) {
    errors.add('mapping', `must be one of ${mappings.join(', ')}, or be left out, not ${shownValue(named)}`);
  }
  // Letters of other products would become wrong events by it.
  if (named !== undefined && object?.has('ids') === false) errors.add('mapping', 'is only allowed with ids, the letters that it is for');
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return { ...(ids === undefined ? {} : { ids }), ...(mapping === undefined ? {} : { mapping }) };
}

/**
 * Returns the ids to discard, or undefined for `{"all":true}`. A missing body discards nothing. Throws RequestProblem `request.invalid`.
 */
export function readDiscardRequest(body: Uint8Array, idForm: DeadLetterIds): readonly string[] | undefined {
  const errors = new ErrorList();
  const parsed = body.length === 0 ? new Map<string, JsonValue>() : readJson(body, DEAD_LETTER_BODY_LIMITS, errors);
  const object = readObject(parsed, BODY, ['ids', 'all'], errors);
  const ids = object?.has('ids') ? readIds(object.get('ids') ?? null, idForm, 'where all is true', errors) : undefined;
  const all = object?.get('all');
  if (errors.isEmpty && all !== undefined && all !== true) errors.add('all', `must be true, or be left out, not ${shownValue(all)}`);
  if (errors.isEmpty && (all === true) === object?.has('ids'))
    errors.add(BODY, 'must have either ids, an array of ids of dead letters, or all, which is true');
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return ids;
}

import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DeadLetterSelection, EventStore, StoredDeadLetter } from '../../store/event-store.ts';

/** Encoding more at once would hold up other requests; a multiple of 3, so that base64 parts fit together. */
const PART_BYTES = 3 * 64 * 1024;

/** Letters that are in memory, unless they are long. */
const READ_AT_ONCE = 100;

/** The bytes as the inside of a JSON string, part by part. */
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

/** A dead letter as JSON: what is kept of its bytes as `text`, or as `base64` where it is not UTF-8. */
function* letterParts({ bytes, offset, zoneId: shieldZoneId, isWhole: replayable, ...letter }: StoredDeadLetter): Generator<string> {
  const head = JSON.stringify({ ...letter, offset: offset?.toString() ?? null, shieldZoneId, replayable });
  const isText = isUtf8(bytes);
  yield `${head.slice(0, -1)},"${isText ? 'text' : 'base64'}":"`;
  yield* isText ? textParts(bytes) : base64Parts(bytes);
  yield '"}';
}

/** The letters after an id, some at a time. */
async function* lettersAfter(store: EventStore, zones: DeadLetterSelection['zones'], id: number): AsyncGenerator<StoredDeadLetter> {
  for (let afterId = id; ; ) {
    const letters = await store.listDeadLetters({ zones, afterId, limit: READ_AT_ONCE });
    yield* letters;
    const last = letters.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

/** The JSON of up to `limit` dead letters of the zones after an id, in parts; everybody else has a turn between two parts. */
export async function* deadLetterList(
  store: EventStore,
  { zones, afterId = 0, limit }: Pick<DeadLetterSelection, 'zones' | 'afterId' | 'limit'>,
): AsyncGenerator<string> {
  let [listed, last, more] = [0, afterId, false];
  // Not said before a letter was read, so that one that cannot be read is answered 500.
  let opening = '{"deadLetters":[';
  for await (const letter of lettersAfter(store, zones, afterId)) {
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

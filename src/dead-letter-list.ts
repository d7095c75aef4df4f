import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventStore, StoredDeadLetter } from '../store/event-store.ts';

/** Encoding more at once would hold up other requests; a multiple of 3, so that base64 parts fit together. */
const PART_BYTES = 3 * 64 * 1024;

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

/** A dead letter as JSON: its bytes as `text`, or as `base64` where they are not UTF-8. */
function* letterParts({ id, receivedAtMs, source, topic, partition, offset, reason, bytes }: StoredDeadLetter): Generator<string> {
  const head = JSON.stringify({ id, receivedAtMs, source, topic, partition, offset: offset?.toString() ?? null, reason });
  const isText = isUtf8(bytes);
  yield `${head.slice(0, -1)},"${isText ? 'text' : 'base64'}":"`;
  yield* isText ? textParts(bytes) : base64Parts(bytes);
  yield '"}';
}

function letterAfter(store: EventStore, id: number | undefined): StoredDeadLetter | undefined {
  return store.listDeadLetters({ ...(id === undefined ? {} : { afterId: id }), limit: 1 })[0];
}

/**
 * The JSON of up to `limit` dead letters after an id, in parts. A letter may be as large as a Kafka message, so one at a time is in memory, and
 * everybody else has a turn between two parts.
 */
export async function* deadLetterList(store: EventStore, afterId: number | undefined, limit: number): AsyncGenerator<string> {
  let letter = letterAfter(store, afterId);
  let last = afterId;
  let opening = '{"deadLetters":[';
  for (let listed = 0; letter !== undefined && listed < limit; listed += 1) {
    for (const part of letterParts(letter)) {
      yield opening + part;
      opening = '';
      await yieldToOthers();
    }
    opening = ',';
    last = letter.id;
    letter = letterAfter(store, last);
  }
  yield `${opening === ',' ? '' : opening}],"nextAfterId":${letter === undefined ? 'null' : last}}`;
}

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DeadLetterSelection, EventStore, StoredDeadLetter } from '../../store/event-store.ts';
import { BatchBuilder, MAX_BATCH_BYTES } from '../event/batch-builder.ts';

const MAX_BATCH_LETTERS = 200;
/** The maximum number of ids in one call of the store. */
const MAX_IDS = 1_000;

export interface ReplayOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** Only dead letters of these zones. Dead letters without a zone belong to `all` alone. */
  readonly zones: DeadLetterSelection['zones'];
  /** Only these dead letters; absent: all. */
  readonly ids?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface ReplayReport {
  /** Dead letters that became events, or that are past the retention. They are no dead letters any more. */
  readonly replayed: number;
  readonly stillRejected: number;
  /** Dead letters of which only the beginning, or nothing, is kept. */
  readonly notReplayable: number;
}

/**
 * Converts dead letters again, for example after rules were relaxed. A dead letter is removed after its event is durable, and a repeated
 * replay stores no event twice. Dead letters that still break a rule stay. Source offsets do not move. Rejects with the signal's reason
 * when aborted.
 */
export async function replayDeadLetters(store: EventStore, { ids, zones, signal, ...rules }: ReplayOptions): Promise<ReplayReport> {
  const builder = new BatchBuilder(rules);
  let [replayed, stillRejected, notReplayable] = [0, 0, 0];
  let taken: number[] = [];
  const storeTaken = async (): Promise<void> => {
    if (taken.length > 0) {
      await store.append(builder.take());
      await store.removeDeadLetters({ zones, ids: taken, limit: taken.length });
      replayed += taken.length;
      taken = [];
    }
  };
  for await (const letter of deadLettersOf(store, zones, ids)) {
    signal?.throwIfAborted();
    if (!letter.isWhole) {
      notReplayable++;
    } else if (builder.addDeadLetterAgain(letter).kind === 'rejected') {
      stillRejected++;
    } else {
      taken.push(letter.id);
    }
    if (taken.length >= MAX_BATCH_LETTERS || builder.byteLength >= MAX_BATCH_BYTES) {
      await storeTaken();
    }
    await yieldToOthers();
  }
  await storeTaken();
  return { replayed, stillRejected, notReplayable };
}

/** Removes the dead letters with these ids, or all, for good. Resolves with their number. */
export async function discardDeadLetters(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly number[]): Promise<number> {
  if (ids === undefined) {
    return await store.removeDeadLetters({ zones, limit: Number.MAX_SAFE_INTEGER });
  }
  let discarded = 0;
  for (const some of idGroups(ids)) {
    discarded += await store.removeDeadLetters({ zones, ids: some, limit: some.length });
  }
  return discarded;
}

async function* deadLettersOf(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly number[]): AsyncGenerator<StoredDeadLetter> {
  for (const some of ids === undefined ? [undefined] : idGroups(ids)) {
    const named = some === undefined ? {} : { ids: some };
    yield* lettersOf(store, { ...named, zones, limit: MAX_BATCH_LETTERS });
  }
}

/** All selected dead letters, by ascending id. They are read from the store up to `limit` at a time. */
async function* lettersOf(store: EventStore, selection: DeadLetterSelection): AsyncGenerator<StoredDeadLetter> {
  for (let { afterId = 0 } = selection; ; ) {
    const letters = await store.listDeadLetters({ ...selection, afterId });
    yield* letters;
    const last = letters.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

function* idGroups(ids: readonly number[]): Generator<readonly number[]> {
  const distinct = [...new Set(ids)];
  for (let start = 0; start < distinct.length; start += MAX_IDS) {
    yield distinct.slice(start, start + MAX_IDS);
  }
}

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DeadLetterSelection, EventStore, StoredDeadLetter } from '../../store/event-store.ts';
import { BatchBuilder } from '../event/batch-builder.ts';

/** What is stored together. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_LETTERS = 200;
/** Ids that are looked up at a time. */
const IDS_AT_ONCE = 1_000;

export interface ReplayOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** Whose letters: those of other zones are left alone, and of no known zone unless it is `all`. */
  readonly zones: DeadLetterSelection['zones'];
  /** Only these; all of them where absent. */
  readonly ids?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface ReplayReport {
  /** No dead letters any more: stored as events now, or counted as expired where they are older than the retention. */
  readonly replayed: number;
  readonly stillRejected: number;
  /** Of these only the start, or no byte, is kept. */
  readonly notReplayable: number;
}

/**
 * Tries dead letters once more, for instance after the rules were loosened. What is an event now is durable before its dead letter is
 * removed, and is stored once however often that is repeated; what still breaks a rule stays as it is. No source offset moves.
 * Rejects with the signal's reason when aborted; what was not stored by then stays a dead letter.
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
    if (taken.length >= BATCH_LETTERS || builder.byteLength >= BATCH_BYTES) {
      await storeTaken();
    }
    await yieldToOthers();
  }
  await storeTaken();
  return { replayed, stillRejected, notReplayable };
}

/** Removes dead letters for good, those named or all that there are; resolves with how many there were. */
export async function discardDeadLetters(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly number[]): Promise<number> {
  if (ids === undefined) {
    return await store.removeDeadLetters({ zones, limit: Number.MAX_SAFE_INTEGER });
  }
  let discarded = 0;
  for (const some of idsInParts(ids)) {
    discarded += await store.removeDeadLetters({ zones, ids: some, limit: some.length });
  }
  return discarded;
}

async function* deadLettersOf(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly number[]): AsyncGenerator<StoredDeadLetter> {
  for (const some of ids === undefined ? [undefined] : idsInParts(ids)) {
    const named = some === undefined ? {} : { ids: some };
    for (let afterId = 0; ; ) {
      const letters = await store.listDeadLetters({ ...named, zones, afterId, limit: BATCH_LETTERS });
      yield* letters;
      const last = letters.at(-1);
      if (last === undefined) break;
      afterId = last.id;
    }
  }
}

function* idsInParts(ids: readonly number[]): Generator<readonly number[]> {
  const distinct = [...new Set(ids)];
  for (let start = 0; start < distinct.length; start += IDS_AT_ONCE) {
    yield distinct.slice(start, start + IDS_AT_ONCE);
  }
}

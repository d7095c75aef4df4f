import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { EventStore, StoredDeadLetter } from '../store/event-store.ts';
import { BatchBuilder } from './batch-builder.ts';

/** What is stored together; a letter may be as long as the longest event, so they are read one by one. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_LETTERS = 200;

export interface ReplayOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** Only these; all of them where absent. */
  readonly ids?: readonly number[];
}

export interface ReplayReport {
  /** No dead letters any more: stored as events now, or counted as expired where they are older than the retention. */
  readonly replayed: number;
  readonly stillRejected: number;
}

/**
 * Tries dead letters once more, for instance after the rules were loosened. What is an event now is durable before its dead letter is removed, and
 * is stored once however often that is repeated; what still breaks a rule stays as it is. No source offset moves.
 */
export async function replayDeadLetters(store: EventStore, { ids, ...rules }: ReplayOptions): Promise<ReplayReport> {
  const wanted = ids === undefined ? undefined : new Set(ids);
  const builder = new BatchBuilder(rules);
  let [replayed, stillRejected] = [0, 0];
  let taken: number[] = [];
  const storeTaken = async (): Promise<void> => {
    if (taken.length > 0) {
      await store.append(builder.take());
      store.removeDeadLetters(taken);
      replayed += taken.length;
      taken = [];
    }
  };
  for (const letter of lettersOf(store)) {
    if (wanted?.has(letter.id) ?? true) {
      if (isEventNow(builder, letter)) {
        taken.push(letter.id);
      } else {
        stillRejected++;
      }
    }
    if (taken.length >= BATCH_LETTERS || builder.byteLength >= BATCH_BYTES) {
      await storeTaken();
    }
    await yieldToOthers();
  }
  await storeTaken();
  return { replayed, stillRejected };
}

function* lettersOf(store: EventStore): Generator<StoredDeadLetter> {
  let [letter] = store.listDeadLetters({ afterId: 0, limit: 1 });
  while (letter !== undefined) {
    yield letter;
    [letter] = store.listDeadLetters({ afterId: letter.id, limit: 1 });
  }
}

function isEventNow(builder: BatchBuilder, letter: StoredDeadLetter): boolean {
  return builder.addDeadLetterAgain(letter).kind !== 'rejected';
}

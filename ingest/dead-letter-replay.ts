import type { EventStore, StoredDeadLetter } from '../store/event-store.ts';
import { BatchBuilder } from './batch-builder.ts';

const PAGE = 200;

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
 * is stored once however often that is repeated; what still breaks a rule stays as it is. No source's position moves.
 */
export async function replayDeadLetters(store: EventStore, { ids, ...rules }: ReplayOptions): Promise<ReplayReport> {
  const wanted = ids === undefined ? undefined : new Set(ids);
  const builder = new BatchBuilder(rules);
  let [replayed, stillRejected, afterId] = [0, 0, 0];
  for (;;) {
    const letters = store.listDeadLetters({ afterId, limit: PAGE });
    const last = letters.at(-1);
    if (last === undefined) {
      return { replayed, stillRejected };
    }
    afterId = last.id;
    const chosen = letters.filter(({ id }) => wanted?.has(id) ?? true);
    const taken = chosen.filter((letter) => isEventNow(builder, letter));
    if (taken.length > 0) {
      await store.append(builder.take());
      store.removeDeadLetters(taken.map(({ id }) => id));
    }
    replayed += taken.length;
    stillRejected += chosen.length - taken.length;
  }
}

function isEventNow(builder: BatchBuilder, letter: StoredDeadLetter): boolean {
  // A letter from a journal was accepted here once, and then refused by the store's reader: to try it again would end in the same way.
  return letter.source !== 'journal' && builder.addDeadLetterAgain(letter).kind !== 'rejected';
}

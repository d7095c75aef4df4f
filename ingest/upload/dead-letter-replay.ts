import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DeadLetterSelection, StoredDeadLetter } from '../../store/dead-letter.ts';
import type { EventStore } from '../../store/event-store.ts';
import { BatchBuilder, MAX_BATCH_BYTES, type RejectedMessage } from '../event/batch-builder.ts';
import type { MessagePlace } from '../event/log-id.ts';
import { LongPiece } from '../event/partial-event.ts';
import { UnreadableInput } from './intake-report.ts';
import { mappedLetterOf, recordVerdict } from './mapped-messages.ts';
import type { MappingThreads } from './mapping-threads.ts';
import { MAX_ITEM_LETTERS, splitMessage } from './message-events.ts';

const MAX_BATCH_LETTERS = 200;
/** The maximum number of ids in one call of the store. */
const MAX_IDS = 1_000;

export interface ReplayOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
  /** Those of the program. The letter of a mapped record becomes an event by their mapping of its name. */
  readonly threads: MappingThreads;
  /** So long a letter waits for a thread. Default: as long as it takes. */
  readonly waitMs?: number;
  /** Only dead letters of these zones. Dead letters without a zone belong to `all` alone. */
  readonly zones: DeadLetterSelection['zones'];
  /** Only these dead letters; absent: all. */
  readonly ids?: readonly string[];
  /** The name of the mapping by which they become events, whatever they came by. Absent: each has its own, or is an event as it is. */
  readonly mapping?: string;
  readonly signal?: AbortSignal;
}

export interface ReplayReport {
  /**
   * Dead letters that became events, that are past the retention, or that their mapping leaves out. They are no dead letters any more. So
   * is a message of several events of which some still break a rule: these have letters of their own then.
   */
  readonly replayed: number;
  /** Events that still break a rule. */
  readonly stillRejected: number;
  /** Dead letters of which only the beginning, or nothing, is kept. */
  readonly notReplayable: number;
  /** The mappings of letters that stay because the program has none of this name; absent where there are none. */
  readonly missingMappings?: readonly string[];
}

/**
 * Converts dead letters again, for example after rules were relaxed or a mapping was changed. One that is a whole message, or an envelope,
 * may hold several events. A dead letter is removed after its events are durable, and a repeated replay stores no event twice. Dead letters
 * that still break a rule stay. Source offsets do not move. Rejects with the signal's reason when aborted, and with
 * ThreadsBusy.
 */
export async function replayDeadLetters(store: EventStore, options: ReplayOptions): Promise<ReplayReport> {
  const { ids, zones, mapping } = options;
  const builder = new BatchBuilder(options);
  let [replayed, stillRejected, notReplayable] = [0, 0, 0];
  let taken: string[] = [];
  /** Of these the ones that leave letters of their events. */
  let divided = new Set<string>();
  const missing = new Set<string>();
  const storeTaken = async (): Promise<void> => {
    // A letter of an array without events leaves nothing to store.
    const notKept = builder.isEmpty ? [] : (await store.append(builder.take())).deadLettersNotKept;
    // Where there is no room for those letters, the one that has all bytes stays.
    const ids = notKept.length === 0 ? taken : taken.filter((id) => !divided.has(id));
    if (ids.length > 0) await store.removeDeadLetters({ zones, ids, limit: ids.length });
    replayed += ids.length;
    [taken, divided] = [[], new Set()];
  };
  for await (const letter of deadLettersOf(store, zones, ids)) {
    options.signal?.throwIfAborted();
    if (!letter.isWhole) {
      notReplayable++;
    } else {
      const asked = mapping === undefined ? letter : { ...letter, mapping };
      const { rejected, isLeft, lacks } = await triedAgain(builder, asked, options);
      if (lacks !== undefined) missing.add(lacks);
      stillRejected += rejected;
      if (!isLeft) taken.push(letter.id);
      if (!isLeft && rejected > 0) divided.add(letter.id);
    }
    if (taken.length >= MAX_BATCH_LETTERS || builder.byteLength >= MAX_BATCH_BYTES) {
      await storeTaken();
    }
    await yieldToOthers();
  }
  await storeTaken();
  return { replayed, stillRejected, notReplayable, ...(missing.size === 0 ? {} : { missingMappings: [...missing].sort() }) };
}

/** What a letter leaves. */
interface TriedLetter {
  /** How many of its events still break a rule. */
  readonly rejected: number;
  /** Whether the letter itself is left. */
  readonly isLeft: boolean;
  /** The name of its mapping, where there is none. */
  readonly lacks?: string;
}

type Waiting = Pick<ReplayOptions, 'threads' | 'signal' | 'waitMs'>;

async function triedAgain(builder: BatchBuilder, letter: StoredDeadLetter, waiting: Waiting): Promise<TriedLetter> {
  const { mapping } = letter;
  if (mapping === null) return addAgain(builder, letter);
  if (!waiting.threads.mappings.has(mapping)) return { rejected: 1, isLeft: true, lacks: mapping };
  try {
    return await addMapped(builder, { ...letter, mapping }, waiting);
  } catch (error) {
    if (error instanceof UnreadableInput) return { rejected: 1, isLeft: true };
    throw error;
  }
}

const placeOf = ({ topic, partition, offset }: StoredDeadLetter): MessagePlace | null =>
  topic === null || partition === null || offset === null ? null : { topic, partition, offset };

/**
 * Adds the events of a dead letter with the ids that they would have had, and dead letters of those of several that still break a rule.
 */
function addAgain(builder: BatchBuilder, letter: StoredDeadLetter): TriedLetter {
  const { bytes, index } = letter;
  const place = placeOf(letter);
  const verdict = place === null ? builder.tryEvent(bytes) : builder.tryMessageAt(place, index, bytes);
  if (verdict.kind !== 'rejected') {
    return { rejected: 0, isLeft: false };
  }
  const rejected = place === null || index !== null ? [] : splitMessage(builder, place, bytes, verdict);
  if (place === null || index !== null || rejected[0]?.index === null) {
    return { rejected: 1, isLeft: true };
  }
  for (const one of rejected) {
    builder.rejectMessage(place, one);
  }
  return { rejected: rejected.length, isLeft: false };
}

type MappedLetter = StoredDeadLetter & { readonly mapping: string };

/**
 * The same for the letter of a record, of an envelope of several, or of a message of Kafka that was rejected as a whole. A letter that has
 * a zone keeps it, so that a key writes to its zones alone; one without is for keys of all zones, and gets that of the mapping.
 */
async function addMapped(builder: BatchBuilder, letter: MappedLetter, waiting: Waiting): Promise<TriedLetter> {
  const rejected: RejectedMessage[] = [];
  let [count, rejectedCount] = [0, 0];
  for await (const one of recordsOf(builder, letter, waiting)) {
    count++;
    if (one === null) continue;
    // The message is rejected as a whole.
    if (one.index === -1) return { rejected: 1, isLeft: true };
    rejectedCount++;
    if (rejectedCount <= MAX_ITEM_LETTERS) rejected.push(one);
  }
  if (count === 1 || rejectedCount > MAX_ITEM_LETTERS) {
    return { rejected: Math.min(rejectedCount, 1), isLeft: rejectedCount > 0 };
  }
  const place = placeOf(letter);
  const source = letter.source === 'file' ? 'file' : 'http';
  for (const one of rejected) {
    if (place !== null) builder.rejectMessage(place, one);
    else builder.reject(source, one.bytes, one.reason, one.zoneId, letter.mapping);
  }
  return { rejected: rejectedCount, isLeft: false };
}

/**
 * Maps the records of a letter as the first try did, and adds their events. Yields those that break a rule, with -1 as the index of what is
 * all of a message, and null for each of the others.
 */
async function* recordsOf(
  builder: BatchBuilder,
  letter: MappedLetter,
  { threads, signal, waitMs }: Waiting,
): AsyncGenerator<RejectedMessage | null> {
  const { mapping, zoneId: given, index, bytes } = letter;
  const place = placeOf(letter);
  const batch = { mapping, zones: { given, fallback: null, opened: 'all' }, bytes, ends: Uint32Array.of(bytes.length) } as const;
  const messages = place === null ? {} : { messages: { ...place, offsets: [place.offset] } };
  using underWay = await threads.begin({ ...batch, ...messages }, signal, waitMs);
  for (let piece = await underWay.next(); piece !== null; piece = await underWay.next()) {
    for (let outcome = 0; outcome < piece.kinds.length; outcome++) {
      const verdict = recordVerdict(builder, piece, outcome);
      if (verdict.kind !== 'rejected') {
        yield null;
        continue;
      }
      const { reason, zoneId } = verdict;
      const kept = mappedLetterOf(piece, outcome);
      // The next batch of anybody has its memory.
      yield {
        bytes: kept instanceof LongPiece ? kept : kept.slice(),
        index: index ?? piece.indexes[outcome] ?? null,
        reason,
        zoneId,
        mapping,
      };
    }
  }
}

/** Removes the dead letters with these ids, or all, for good. Resolves with their number. */
export async function discardDeadLetters(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly string[]): Promise<number> {
  if (ids === undefined) {
    return await store.removeDeadLetters({ zones, limit: Number.MAX_SAFE_INTEGER });
  }
  let discarded = 0;
  for (const some of idGroups(ids)) {
    discarded += await store.removeDeadLetters({ zones, ids: some, limit: some.length });
  }
  return discarded;
}

async function* deadLettersOf(store: EventStore, zones: ReplayOptions['zones'], ids?: readonly string[]): AsyncGenerator<StoredDeadLetter> {
  for (const some of ids === undefined ? [undefined] : idGroups(ids)) {
    const named = some === undefined ? {} : { ids: some };
    yield* lettersOf(store, { ...named, zones, limit: MAX_BATCH_LETTERS });
  }
}

/** All selected dead letters, by ascending id. They are read from the store up to `limit` at a time. */
async function* lettersOf(store: EventStore, selection: DeadLetterSelection): AsyncGenerator<StoredDeadLetter> {
  for (let after: Pick<DeadLetterSelection, 'afterId'> = {}; ; ) {
    const letters = await store.listDeadLetters({ ...selection, ...after });
    yield* letters;
    const last = letters.at(-1);
    if (last === undefined) return;
    after = { afterId: last.id };
  }
}

function* idGroups(ids: readonly string[]): Generator<readonly string[]> {
  const distinct = [...new Set(ids)];
  for (let start = 0; start < distinct.length; start += MAX_IDS) {
    yield distinct.slice(start, start + MAX_IDS);
  }
}

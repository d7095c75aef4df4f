import {
  candidateLettersStatement,
  insertLettersStatement,
  knownLettersStatement,
  lettersStatement,
  oldestLettersStatement,
  reduceLettersStatement,
  removeLettersStatement,
} from '../../../sql/clickhouse/dead-letter-statements.ts';
import type { DeadLetter, DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../../dead-letter.ts';
import { identityOf, messageHashOf } from '../../dead-letter-identity.ts';
import { QUOTA_USED_UP, recordCostOf } from '../../dead-letter-shares.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { ClickhouseClient } from '../server/client.ts';
import { LetterRoom, type OldestLetters } from './letter-room.ts';
import { type HeldLetter, LetterShares } from './letter-shares.ts';

/** A list ends once its letters have so many bytes. */
const LIST_BYTES = 4 * 1024 * 1024;
/** So many letters are stored, removed or reduced by a statement, because a statement beside data stands in a URL. */
const STATEMENT_LETTERS = 500;
/** So many of the letters that give way next are looked up together, because that reads the ids of all letters. */
const OLDEST_AT_ONCE = 1_000;

export const sharedLetterIds: DeadLetterIds = {
  allowed: '32 digits 0-9 and a-f',
  parse: (named) => (typeof named === 'string' && /^[0-9a-f]{32}$/.test(named) ? named : null),
};

interface SharedDeadLettersOptions {
  readonly client: ClickhouseClient;
  readonly quotaBytes: number;
  /** Who holds how much of the quota is read no more often. */
  readonly sharesEveryMs: number;
  readonly logger: StoreLogger;
}

/** A letter on its way into the table. */
interface NewLetter extends HeldLetter {
  readonly letter: DeadLetter;
  readonly sha256: Uint8Array;
  readonly identity: string;
}

/** The dead letters of a store, in a table. A message is kept once, however often and by however many processes it is delivered. */
export class SharedDeadLetters {
  readonly #options: SharedDeadLettersOptions;
  readonly #shares: LetterShares;

  constructor(options: SharedDeadLettersOptions) {
    const { client, sharesEveryMs } = options;
    this.#options = options;
    this.#shares = new LetterShares({ client, everyMs: sharesEveryMs });
  }

  /**
   * Adds letters, which are durable when this resolves, with the indices of those whose bytes are not kept because the quota is used up.
   * Of those from Kafka all else is kept. Calls come one after another.
   */
  async add(letters: readonly DeadLetter[], nowMs: number): Promise<readonly number[]> {
    return letters.length === 0 ? [] : await this.#shares.changing(() => this.#addAll(letters, nowMs));
  }

  async #addAll(letters: readonly DeadLetter[], nowMs: number): Promise<readonly number[]> {
    const newOnes = letters.map(newLetterOf);
    const isKept = await this.#known(newOnes.map(({ identity }) => identity));
    const added = new Map<string, NewLetter>();
    const room = new LetterRoom({ shares: this.#shares, quotaBytes: this.#options.quotaBytes, oldest: this.#oldest });
    for (const letter of newOnes) {
      // A message that comes again takes no further room.
      if (!isKept.has(letter.identity) && !added.has(letter.identity)) {
        added.set(letter.identity, letter);
        await room.add(letter);
      }
    }
    await this.#store([...added.values()], nowMs);
    const changed = [...room.changed];
    await this.#reduce(changed.filter(({ standing }) => standing === 'records'));
    await this.#drop(changed.filter(({ standing }) => standing === 'gone'));
    for (const { stored } of changed) {
      isKept.set(stored?.identity ?? '', false);
    }
    const notKept = newOnes.flatMap(({ identity }, index) =>
      (isKept.get(identity) ?? added.get(identity)?.standing === 'letters') ? [] : index,
    );
    const { gaveWay, droppedRecords } = room;
    if (notKept.length > 0 || gaveWay > 0) {
      this.#options.logger.warn({ letters: notKept.length, gaveWay, droppedRecords }, QUOTA_USED_UP);
    }
    return notKept;
  }

  /** Lists letters by ascending id: at least one where there is one, and no more once they have some mebibytes. */
  async list(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    const { client } = this.#options;
    if (isNothing(selection)) {
      return [];
    }
    for (let { afterId } = selection; ; ) {
      const { rows } = await client.read(candidateLettersStatement({ ...selection, afterId }));
      const candidates = firstOf(rows as readonly CandidateRow[], LIST_BYTES);
      if (candidates.length === 0) {
        return [];
      }
      const ids = candidates.map(([id]) => id);
      const identities = candidates.map(([, identity]) => identity);
      const listed = await client.read(lettersStatement(selection.zones, ids, identities));
      if (listed.rows.length > 0) {
        return listed.rows.map((row) => letterOf(row as LetterRow));
      }
      // All of them are further letters of messages that two programs have stored at once, or are removed by now.
      afterId = ids.at(-1);
    }
  }

  /** Removes the selected letters for good; resolves with their number. */
  async remove(selection: DeadLetterSelection): Promise<number> {
    if (isNothing(selection)) {
      return 0;
    }
    const removed = await this.#options.client.insertSelected(removeLettersStatement(selection));
    const { zones, ids, afterId } = selection;
    if (ids === undefined && afterId === undefined && removed < selection.limit) {
      for (const zone of zones === 'all' ? [undefined] : zones) {
        this.#shares.clear('letters', zone);
        this.#shares.clear('records', zone);
      }
    }
    this.#shares.change({ kind: 'letters', zoneId: null, bytes: 0, letters: -removed });
    return removed;
  }

  /** How many letters there are, as of the last time that they were counted. */
  async count(): Promise<number> {
    await this.#shares.upToDate();
    return this.#shares.count;
  }

  /** Whether the bytes of a letter are kept, by the identities of these that are stored. */
  async #known(identities: readonly string[]): Promise<Map<string, boolean>> {
    const { rows } = await this.#options.client.read(knownLettersStatement(identities));
    return new Map(rows.map(([identity, isRecordOnly]) => [String(identity), isRecordOnly !== true]));
  }

  readonly #oldest: OldestLetters = async (kind, zoneId, afterId) => {
    const chosen = { zoneId, isRecordOnly: kind === 'records', afterId, limit: OLDEST_AT_ONCE };
    const { rows } = await this.#options.client.read(oldestLettersStatement(chosen));
    const byId = new Map((rows as readonly OldestRow[]).map((row) => [row[0], row]));
    return [...byId.values()].map(([id, identity, recordCost, cost, isFromKafka]) => ({
      zoneId,
      recordCost: Number(recordCost),
      cost: Number(cost),
      isFromKafka: isFromKafka === 1,
      stored: { id, identity },
      standing: kind,
    }));
  };

  async #store(letters: readonly NewLetter[], nowMs: number): Promise<void> {
    const { client } = this.#options;
    for (const some of partsOf(letters.filter(({ standing }) => standing !== 'gone'))) {
      const lines = some.map((letter, position) => lineOf(letter, position, nowMs));
      const statement = insertLettersStatement(
        some.map(({ identity }) => identity),
        await client.storeId(),
      );
      // Letters that another program has stored since are left out, so that the server counts all as read, and fewer as written.
      await client.insert(statement, { data: [Buffer.from(`${lines.join('\n')}\n`)], rows: lines.length, counted: 'read_rows' });
    }
  }

  async #reduce(letters: readonly HeldLetter[]): Promise<void> {
    for (const { ids, identities } of namedParts(letters)) {
      await this.#options.client.run(reduceLettersStatement(ids, identities));
    }
  }

  async #drop(letters: readonly HeldLetter[]): Promise<void> {
    for (const { ids, identities } of namedParts(letters)) {
      await this.#options.client.run(removeLettersStatement({ zones: 'all', ids, limit: ids.length }, identities));
    }
  }
}

function isNothing({ zones, ids, limit }: DeadLetterSelection): boolean {
  return zones.length === 0 || ids?.length === 0 || limit === 0;
}

/** A letter has one row, or two until these are merged: with its bytes, and as a record. */
type CandidateRow = readonly [id: string, identity: string, cost: string];

/** The rows up to the one at which letters have so many bytes. */
function firstOf(rows: readonly CandidateRow[], bytes: number): readonly CandidateRow[] {
  let listed = 0;
  const last = rows.findIndex(([, , cost]) => {
    listed += Number(cost);
    return listed >= bytes;
  });
  return last === -1 ? rows : rows.slice(0, last + 1);
}

type OldestRow = readonly [id: string, identity: string, recordCost: string, cost: string, isFromKafka: number];

function* partsOf<T>(letters: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < letters.length; start += STATEMENT_LETTERS) {
    yield letters.slice(start, start + STATEMENT_LETTERS);
  }
}

function* namedParts(
  letters: readonly HeldLetter[],
): Generator<{ readonly ids: readonly string[]; readonly identities: readonly string[] }> {
  for (const some of partsOf(letters)) {
    const stored = some.flatMap((letter) => letter.stored ?? []);
    yield { ids: stored.map(({ id }) => id), identities: stored.map(({ identity }) => identity) };
  }
}

function newLetterOf(letter: DeadLetter): NewLetter {
  const sha256 = messageHashOf(letter);
  const recordCost = recordCostOf(letter);
  return {
    letter,
    sha256,
    identity: identityOf(letter, sha256).toString('base64'),
    zoneId: letter.zoneId,
    recordCost,
    cost: recordCost + letter.bytes.length,
    isFromKafka: letter.topic !== null,
    stored: null,
    standing: 'letters',
  };
}

/** A letter as the statement that stores it takes it. */
function lineOf({ letter, sha256, identity, recordCost, cost, standing }: NewLetter, position: number, receivedAt: number): string {
  const { bytes, cut, isBatch = false, reason, source, mapping = null, topic, partition, offset, index = null, zoneId } = letter;
  const isKept = standing === 'letters';
  return JSON.stringify({
    position,
    identity,
    receivedAt,
    zoneId,
    source,
    topic,
    partition,
    messageOffset: offset === null ? null : String(offset),
    itemIndex: index,
    mapping,
    isBatch,
    isRecordOnly: !isKept,
    reason,
    sizeBytes: cut?.sizeBytes ?? bytes.length,
    recordCost,
    cost: isKept ? cost : recordCost,
    sha256: Buffer.from(sha256).toString('base64'),
    bytes: isKept ? Buffer.from(bytes).toString('base64') : '',
  });
}

type LetterRow = readonly [
  id: string,
  zoneId: number | null,
  receivedAt: string,
  source: string,
  topic: string | null,
  partition: number | null,
  offset: string | null,
  index: string | null,
  mapping: string | null,
  isBatch: boolean,
  isRecordOnly: boolean,
  reason: string,
  sizeBytes: string,
  sha256: string,
  bytes: string,
];

function letterOf(row: LetterRow): StoredDeadLetter {
  const [id, zoneId, receivedAt, source, topic, partition, offset, index, mapping, ...kept] = row;
  const [isBatch, isRecordOnly, reason, size, sha256, content] = kept;
  const bytes = Buffer.from(content, 'base64');
  const sizeBytes = Number(size);
  return {
    id,
    receivedAtMs: Number(receivedAt),
    source,
    mapping,
    topic,
    partition,
    offset: offset === null ? null : BigInt(offset),
    index: index === null ? null : Number(index),
    zoneId,
    reason,
    sizeBytes,
    sha256: Buffer.from(sha256, 'base64').toString('hex'),
    isWhole: !isRecordOnly && !isBatch && bytes.length === sizeBytes,
    bytes,
  };
}

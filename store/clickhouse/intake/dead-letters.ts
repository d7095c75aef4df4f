import { wholeNumberIn } from '../../../query/integer-ranges.ts';
import {
  type ChosenLetters,
  chosenLettersStatement,
  insertLettersStatement,
  knownLettersStatement,
  lettersStatement,
  letterTotalsStatement,
  removeLettersStatement,
} from '../../../sql/clickhouse/dead-letter-statements.ts';
import { identityOf, messageHashOf } from '../../dead-letter-identity.ts';
import type { DeadLetter, DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../../event-store.ts';
import type { ClickhouseClient } from '../server/client.ts';

/** Bytes that a letter takes beside its message and texts. */
const ROW_BYTES = 400;
/** A list ends once its letters have so many bytes. */
const LIST_BYTES = 4 * 1024 * 1024;

export const sharedLetterIds: DeadLetterIds = {
  allowed: 'a whole number 0..9223372036854775807',
  parse: (named) => wholeNumberIn(String(named), 0, 2n ** 63n - 1n)?.toString() ?? null,
};

interface SharedDeadLettersOptions {
  readonly client: ClickhouseClient;
  readonly quotaBytes: number;
}

/** The dead letters of a store, in a table. A message is kept once, however often and by however many processes it is delivered. */
export class SharedDeadLetters {
  readonly #options: SharedDeadLettersOptions;
  readonly #writer = Math.floor(Math.random() * 2 ** 16);

  constructor(options: SharedDeadLettersOptions) {
    this.#options = options;
  }

  /**
   * Adds letters, which are durable when this resolves, with the indices of those whose bytes are not kept because the quota is used up.
   * Of those from Kafka all else is kept.
   */
  async add(letters: readonly DeadLetter[], nowMs: number): Promise<readonly number[]> {
    if (letters.length === 0) {
      return [];
    }
    const hashes = letters.map(messageHashOf);
    const identities = letters.map((letter, index) => identityOf(letter, hashes[index] as Uint8Array).toString('base64'));
    const areKept = await this.#known(identities);
    let { bytes: used } = await this.totals();
    const notKept: number[] = [];
    const lines: string[] = [];
    for (const [index, letter] of letters.entries()) {
      const identity = identities[index] as string;
      const isKnownKept = areKept.get(identity);
      if (isKnownKept !== undefined) {
        // A message that comes again takes no further room.
        if (!isKnownKept) notKept.push(index);
        continue;
      }
      used += letter.bytes.length + Buffer.byteLength(letter.reason) + ROW_BYTES;
      const isKept = used <= this.#options.quotaBytes;
      if (!isKept) {
        used -= letter.bytes.length;
        notKept.push(index);
      }
      areKept.set(identity, isKept);
      if (isKept || letter.topic !== null) {
        lines.push(lineOf(letter, hashes[index] as Uint8Array, { position: index, identity, receivedAt: nowMs, isKept }));
      }
    }
    if (lines.length > 0) {
      const { client } = this.#options;
      // Letters that another program has stored since are left out, so that the server counts all as read, and fewer as written.
      const rows = { data: [Buffer.from(`${lines.join('\n')}\n`)], rows: lines.length, counted: 'read_rows' } as const;
      await client.insert(insertLettersStatement(this.#writer, await client.storeId()), rows);
    }
    return notKept;
  }

  /** Lists letters by ascending id: at least one where there is one, and no more once they have some mebibytes. */
  async list(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    const ids = await this.#idsOf(selection, LIST_BYTES);
    if (ids.length === 0) {
      return [];
    }
    const chosen: ChosenLetters = { zones: 'all', ids, afterId: '0', limit: ids.length };
    const { rows } = await this.#options.client.read(lettersStatement(chosen));
    return rows.map((row) => letterOf(row as LetterRow));
  }

  /** Removes the selected letters for good; resolves with their number. */
  async remove(selection: DeadLetterSelection): Promise<number> {
    const ids = await this.#idsOf(selection, Number.POSITIVE_INFINITY);
    if (ids.length > 0) {
      await this.#options.client.run(removeLettersStatement(ids));
    }
    return ids.length;
  }

  /** How many letters there are, and the bytes that they take. */
  async totals(): Promise<{ readonly count: number; readonly bytes: number }> {
    const [count, bytes] = await this.#options.client.readRow(letterTotalsStatement(ROW_BYTES));
    return { count: Number(count), bytes: Number(bytes) };
  }

  /** Whether the bytes of a letter are kept, by the identities of these that are stored. */
  async #known(identities: readonly string[]): Promise<Map<string, boolean>> {
    const { rows } = await this.#options.client.read(knownLettersStatement(identities));
    return new Map(rows.map(([identity, isRecordOnly]) => [String(identity), isRecordOnly !== true && isRecordOnly !== 1]));
  }

  async #idsOf({ zones, ids, afterId = '0', limit }: DeadLetterSelection, maxBytes: number): Promise<readonly string[]> {
    if (ids?.length === 0 || zones.length === 0) {
      return [];
    }
    const { rows } = await this.#options.client.read(chosenLettersStatement({ zones, ids, afterId, limit }));
    let listed = 0;
    const over = rows.findIndex(([, bytes]) => {
      listed += Number(bytes) + ROW_BYTES;
      return listed >= maxBytes;
    });
    return rows.slice(0, over === -1 ? rows.length : over + 1).map(([id]) => String(id));
  }
}

/** A letter as the statement that stores it takes it. */
function lineOf(
  letter: DeadLetter,
  sha256: Uint8Array,
  { isKept, ...row }: { readonly position: number; readonly identity: string; readonly receivedAt: number; readonly isKept: boolean },
): string {
  const { bytes, cut, isBatch = false, reason, source, topic, partition, offset, index = null, zoneId } = letter;
  return JSON.stringify({
    ...row,
    zoneId,
    source,
    topic,
    partition,
    messageOffset: offset === null ? null : String(offset),
    itemIndex: index,
    isBatch,
    isRecordOnly: !isKept,
    reason,
    sizeBytes: cut?.sizeBytes ?? bytes.length,
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
  isBatch: boolean,
  isRecordOnly: boolean,
  reason: string,
  sizeBytes: string,
  sha256: string,
  bytes: string,
];

function letterOf(row: LetterRow): StoredDeadLetter {
  const [id, zoneId, receivedAt, source, topic, partition, offset, index, isBatch, isRecordOnly, reason, size, sha256, content] = row;
  const bytes = Buffer.from(content, 'base64');
  const sizeBytes = Number(size);
  return {
    id,
    receivedAtMs: Number(receivedAt),
    source,
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

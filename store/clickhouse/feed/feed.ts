import { type ArrivalRange, feedLinesStatement, firstSlotStatement, pageEndStatement } from '../../../sql/clickhouse/feed-statements.ts';
import { WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import { MINUTE_OF_SEQUENCES } from '../../../sql/clickhouse/schema.ts';
import { type FeedLine, type FeedPage, type FeedRequest, StoreError } from '../../event-store.ts';
import type { ClickhouseClient } from '../server/client.ts';
import { AnswerTooLarge } from '../server/server-error.ts';
import type { Visibility } from '../server/visibility.ts';
import { type ClickhousePositions, sequenceAt } from './positions.ts';

/** A page is read in parts of so many events at first; of long ones, it is fewer. */
const PART_EVENTS = 10_000;
/** The most bytes of a part, of which only a single event may have more. */
const PART_BYTES = 16 * 1024 * 1024;
/** So many times fewer events are tried where all are too many. */
const FEWER = 8;

const NEWLINE = 0x0a;
const TAB = 0x09;

interface FeedOptions {
  readonly client: ClickhouseClient;
  readonly visibility: Pick<Visibility, 'horizon'>;
  readonly positions: ClickhousePositions;
  readonly table: string;
}

/** The events of a store in the order of their sequences. */
export class Feed {
  readonly #options: FeedOptions;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** One page, which ends before its limit where its events are long, or where those that a reader may see end. */
  async read({ zones, after, limit }: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    const { visibility, positions } = this.#options;
    const start = sequenceAt(after);
    const upTo = (await visibility.horizon(signal)) - 1n;
    const lines: FeedLine[] = [];
    let [reached, more] = [start, false];
    while (reached < upTo && lines.length < limit && !more) {
      const part = await this.#readPart({ zones, after: reached, upTo }, Math.min(PART_EVENTS, limit - lines.length), signal);
      lines.push(...part.lines);
      ({ reached, more } = part);
    }
    if (!more && reached < upTo) {
      more = (await this.#firstSlot({ zones, after: reached, upTo }, signal)) !== undefined;
    }
    return { lines, more, unreadable: 0, end: positions.advance(after, { sequence: reached }) };
  }

  /** Up to `limit` events of the first slot of a range that has any. `more` says that the part is full and the slot has further ones. */
  async #readPart(range: ArrivalRange, limit: number, signal: AbortSignal) {
    const slot = await this.#firstSlot(range, signal);
    if (slot === undefined) {
      return { lines: [], reached: range.upTo, more: false };
    }
    const slotEnd = (slot + 1n) * MINUTE_OF_SEQUENCES - 1n;
    const inSlot = { ...range, upTo: slotEnd < range.upTo ? slotEnd : range.upTo };
    for (let events = limit; ; events = Math.ceil(events / FEWER)) {
      const end = await this.#pageEnd(inSlot, events, signal);
      try {
        const lines = await this.#readLines({ ...inSlot, upTo: end ?? inSlot.upTo }, events > 1, signal);
        return { lines, reached: end ?? inSlot.upTo, more: end !== undefined };
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) {
          throw error;
        }
      }
    }
  }

  async #firstSlot(range: ArrivalRange, signal: AbortSignal): Promise<bigint | undefined> {
    const { rows } = await this.#options.client.read(firstSlotStatement(this.#options.table, range), { signal });
    return rows[0] && BigInt(String(rows[0][0]));
  }

  /** The sequence of the last of `limit` copies of events in a range; undefined where it has no more than these. */
  async #pageEnd(range: ArrivalRange, limit: number, signal: AbortSignal): Promise<bigint | undefined> {
    const { rows } = await this.#options.client.read(pageEndStatement(this.#options.table, range, limit), { signal });
    const [end, hasMore] = rows[0] as unknown as readonly [string, boolean | number];
    return hasMore ? BigInt(end) : undefined;
  }

  async #readLines(range: ArrivalRange, isBounded: boolean, signal: AbortSignal): Promise<FeedLine[]> {
    const { client, table } = this.#options;
    const bytes = await client.readBytes(feedLinesStatement(table, range), { signal, ...(isBounded ? { maxBytes: PART_BYTES } : {}) });
    return linesIn(bytes);
  }
}

/** The events in the rows of a `feedLinesStatement`. */
function linesIn(bytes: Buffer): FeedLine[] {
  const lines: FeedLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tab = bytes.indexOf(TAB, at);
    const end = bytes.indexOf(NEWLINE, tab);
    if (tab < 0 || end < 0) {
      throw new StoreError('corrupt', `a page of the feed ends within a line: ${JSON.stringify(bytes.toString('utf8', at, at + 100))}`);
    }
    const sequence = BigInt(bytes.toString('latin1', at, tab));
    const ingestedAtMs = Number(sequence / BigInt(WRITERS) / 1000n);
    lines.push({ sequence, ingestedAtMs, bytes, start: tab + 1, end });
    at = end + 1;
  }
  return lines;
}

import { mostLookedAt } from '../../../query/plan/wanted-events.ts';
import { type ArrivalRange, feedLinesStatement, firstSlotStatement, pageEndStatement } from '../../../sql/clickhouse/feed-statements.ts';
import { MINUTE_OF_SEQUENCES } from '../../../sql/clickhouse/schema.ts';
import { abortable } from '../../../work/abortable.ts';
import type { FeedLine, FeedPage, FeedRequest } from '../../event-store.ts';
import { distinctWanted, FeedExcerpts, type FeedPiece, PAGE_BYTES, PAGE_EVENTS } from '../../feed-excerpts.ts';
import { StoreError } from '../../store-error.ts';
import type { ClickhouseClient } from '../server/client.ts';
import { isTooMuchAtOnce } from '../server/server-error.ts';
import { type ClickhouseSettings, settingsOfZones } from '../server/settings.ts';
import type { Visibility } from '../server/visibility.ts';
import { type ClickhousePositions, ingestTimeOf, sequenceAt } from './positions.ts';

/** The most of an excerpt. The events of a minute lie in all parts of the table, so that reading more of them takes little longer. */
const EXCERPT_EVENTS = 60_000;
/** So many copies of events are looked at by one statement for those that match: it holds their identities. */
const LOOKED_AT_ONCE = 250_000;
/** The share of an excerpt that is filled where its events are as long as those before. */
const FILLED = 0.8;
/** What an event takes until one was read. */
const USUAL_EVENT_BYTES = 1_024;
/** So many times fewer events are tried where all are too many. */
const FEWER = 8;

const NEWLINE = 0x0a;
const TAB = 0x09;
const DIGITS = /^\d{1,19}$/;

interface FeedOptions {
  readonly client: ClickhouseClient;
  readonly visibility: Pick<Visibility, 'horizon'>;
  readonly positions: ClickhousePositions;
  readonly table: string;
  /** The most bytes of an excerpt; a single event may have more. */
  readonly excerptBytes: number;
}

/** The wanted events with a sequence above `after` and up to `upTo`. */
interface Excerpt {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly lines: readonly FeedLine[];
  /** How many events were looked at for each sequence that it spans. */
  readonly density: number;
}

/** A range of which a statement looks at so many events at most. */
interface BoundedRange extends ArrivalRange {
  readonly lookedAt: number;
}

/** How much is read at once; a single event may have more bytes. */
interface ReadBudget {
  readonly events: number;
  readonly bytes: number;
}

/** The events of a store in the order of their sequences. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #excerpts = new FeedExcerpts<ArrivalRange, Excerpt>((range) => this.#makeExcerpt(range));
  readonly #closing = new AbortController();
  /** The mean of the events that were read last. */
  #eventBytes = USUAL_EVENT_BYTES;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** One page, which ends before its limit where its events are long, or where those that a reader may see end. */
  async read({ after, limit, ...request }: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    const { visibility, positions } = this.#options;
    const wanted = distinctWanted(request);
    const mostLooked = mostLookedAt(wanted);
    const upTo = (await visibility.horizon(signal)) - 1n;
    const most = Math.min(limit, PAGE_EVENTS);
    const lines: FeedLine[] = [];
    let [reached, bytes, lookedAt] = [sequenceAt(after), 0, 0];
    while (reached < upTo && lines.length < most && bytes < PAGE_BYTES && lookedAt < mostLooked) {
      const budget = { events: most - lines.length, bytes: PAGE_BYTES - bytes };
      const piece = await this.#readPiece({ ...wanted, after: reached, upTo }, budget, signal);
      const pieceBytes = bytesOf(piece.lines);
      if (lines.length > 0 && pieceBytes > budget.bytes) {
        break;
      }
      lines.push(...piece.lines);
      bytes += pieceBytes;
      reached = piece.lastSequence;
      lookedAt += piece.lookedAt;
    }
    const more = reached < upTo && (await this.#firstSlot({ ...wanted, after: reached, upTo }, signal)) !== undefined;
    // What is left up to there has nothing wanted, though the last piece may have ended before it.
    const end = more || reached > upTo ? reached : upTo;
    return {
      lines,
      more,
      lookedAt: Math.max(lookedAt, lines.length),
      completeToMs: ingestTimeOf((more ? reached : upTo) + 1n),
      unreadable: 0,
      end: positions.advance(after, { sequence: end }),
    };
  }

  /** Ends excerpts that are being made. */
  async close(): Promise<void> {
    this.#closing.abort(new StoreError('closed', 'the store is closed'));
    await this.#excerpts.close();
  }

  /** The next events of a range: all of what is looked at together where these are few, else some of an excerpt. */
  async #readPiece(range: ArrivalRange, budget: ReadBudget, signal: AbortSignal): Promise<FeedPiece> {
    const found = this.#excerpts.find(range, range.after);
    if (found !== undefined) {
      return this.#readExcerpt(await abortable(found, signal), range, budget);
    }
    const bounded = await this.#bounded(range, signal);
    if (bounded === undefined) {
      return { lines: [], lastSequence: range.upTo, lookedAt: 0 };
    }
    const { lookedAt } = bounded;
    const pageBudget = { events: budget.events, bytes: PAGE_BYTES };
    const { isAll, count } = await this.#firstSequences(bounded, pageBudget.events, signal);
    if (isAll) {
      const lines = count === 0 ? [] : await this.#linesWithin(bounded, PAGE_BYTES, signal);
      if (lines !== undefined) {
        return { lines, lastSequence: bounded.upTo, lookedAt };
      }
    }
    const excerpt = this.#excerpts.open(range);
    if (excerpt !== undefined) {
      return this.#readExcerpt(await abortable(excerpt, signal), range, budget);
    }
    const { lines, upTo } = await this.#readFirst(bounded, pageBudget, signal);
    return { lines, lastSequence: upTo, lookedAt };
  }

  #readExcerpt(excerpt: Excerpt, range: ArrivalRange, budget: ReadBudget): FeedPiece {
    const { after, upTo } = range;
    const next = () => (excerpt.upTo < upTo ? { ...range, after: excerpt.upTo } : undefined);
    return this.#excerpts.read(excerpt, range, after, () => firstOf(excerpt, after, budget), next);
  }

  async #makeExcerpt(range: ArrivalRange): Promise<Excerpt> {
    const { signal } = this.#closing;
    const bounded = await this.#bounded(range, signal);
    return bounded === undefined
      ? { ...range, lines: [], density: 0 }
      : await this.#readFirst(bounded, { events: EXCERPT_EVENTS, bytes: this.#options.excerptBytes }, signal);
  }

  /** The first events of a range that fit into a budget, at least those of one sequence. */
  async #readFirst(range: BoundedRange, budget: ReadBudget, signal: AbortSignal): Promise<Excerpt> {
    const density = range.lookedAt / Number(range.upTo - range.after);
    const expected = Math.max(1, Math.floor((FILLED * budget.bytes) / this.#eventBytes));
    for (let events = Math.min(budget.events, expected); ; ) {
      const { end, isAll, count } = await this.#firstSequences(range, events, signal);
      const upTo = isAll ? range.upTo : end;
      const lines = await this.#linesWithin({ ...range, upTo }, count === 1 ? undefined : budget.bytes, signal);
      if (lines !== undefined) {
        return { after: range.after, upTo, lines, density };
      }
      events = Math.ceil(count / FEWER);
    }
  }

  /**
   * The part of a range that is read together; undefined where there are no events of its zones. Without a condition it is the first minute
   * that has some. With one it is so many minutes from there on, or so much of one, that about as many events are looked at as may be.
   */
  async #bounded(range: ArrivalRange, signal: AbortSignal): Promise<BoundedRange | undefined> {
    const slot = await this.#firstSlot(range, signal);
    if (slot === undefined) {
      return undefined;
    }
    const withMinutes = (minutes: bigint): ArrivalRange => {
      const end = (slot + minutes) * MINUTE_OF_SEQUENCES - 1n;
      return end < range.upTo ? { ...range, upTo: end } : range;
    };
    if (range.where === undefined) {
      return { ...withMinutes(1n), lookedAt: 0 };
    }
    const { zones, after } = range;
    const most = Math.min(mostLookedAt(range), LOOKED_AT_ONCE);
    for (let minutes = 1n; ; minutes *= 2n) {
      const wider = withMinutes(minutes);
      const { end, isAll, count } = await this.#firstSequences({ zones, after, upTo: wider.upTo }, most, signal);
      if (!isAll || wider.upTo === range.upTo || count > most / 2) {
        return { ...wider, upTo: isAll ? wider.upTo : end, lookedAt: count };
      }
    }
  }

  async #firstSlot(range: ArrivalRange, signal: AbortSignal): Promise<bigint | undefined> {
    const { rows } = await this.#options.client.read(firstSlotStatement(this.#options.table, range), this.#reading(range, signal));
    return rows[0] && BigInt(String(rows[0][0]));
  }

  /** The first `limit` sequences of a range: the last of them, 0 without any, how many they are, and whether these are all. */
  async #firstSequences(range: ArrivalRange, limit: number, signal: AbortSignal) {
    const row = await this.#options.client.readRow(pageEndStatement(this.#options.table, range, limit), this.#reading(range, signal));
    const [end, hasMore, count] = row as readonly [string, boolean | number, string | number];
    return { end: BigInt(end), isAll: !hasMore, count: Number(count) };
  }

  /** The events of a range; undefined where they are too many for the reader or the server. Without a limit it rejects instead. */
  async #linesWithin(range: ArrivalRange, maxBytes: number | undefined, signal: AbortSignal): Promise<FeedLine[] | undefined> {
    const { client, table } = this.#options;
    try {
      const bound = maxBytes === undefined ? {} : { maxBytes };
      const lines = linesIn(await client.readBytes(feedLinesStatement(table, range), { ...this.#reading(range, signal), ...bound }));
      if (lines.length > 0) {
        this.#eventBytes = Math.max(1, bytesOf(lines) / lines.length);
      }
      return lines;
    } catch (error) {
      if (maxBytes === undefined || !isTooMuchAtOnce(error)) {
        throw error;
      }
      return undefined;
    }
  }

  #reading({ zones }: ArrivalRange, signal: AbortSignal): { readonly signal: AbortSignal; readonly settings: ClickhouseSettings } {
    return { signal, settings: settingsOfZones(this.#options.table, zones) };
  }
}

function bytesOf(lines: readonly FeedLine[]): number {
  return lines.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The first events of an excerpt behind `after` that fit into a budget, at least one. They are copies, so that it can be dropped. */
function firstOf({ lines, upTo, density }: Excerpt, after: bigint, budget: ReadBudget): FeedPiece {
  const pieceOf = (some: readonly FeedLine[], lastSequence: bigint): FeedPiece => {
    return { lines: copyOf(some), lastSequence, lookedAt: density * Number(lastSequence - after) };
  };
  const behind = lines.findIndex(({ sequence }) => sequence > after);
  if (behind < 0) {
    return pieceOf([], upTo);
  }
  let [end, bytes] = [behind, 0];
  for (const line of lines.slice(behind)) {
    bytes += line.end - line.start;
    const isFull = end - behind >= budget.events || (end > behind && bytes > budget.bytes);
    // Where two processes have one number, two events may have one sequence, which a cursor cannot stand between.
    if (isFull && line.sequence !== lines[end - 1]?.sequence) {
      break;
    }
    end += 1;
  }
  const some = lines.slice(behind, end);
  return pieceOf(some, end === lines.length ? upTo : (some.at(-1)?.sequence ?? upTo));
}

function copyOf(lines: readonly FeedLine[]): FeedLine[] {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) {
    return [];
  }
  const bytes = Buffer.from(first.bytes.subarray(first.start, last.end));
  return lines.map((line) => ({ ...line, bytes, start: line.start - first.start, end: line.end - first.start }));
}

/** The events in the rows of a `feedLinesStatement`. */
function linesIn(bytes: Buffer): FeedLine[] {
  const lines: FeedLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tab = bytes.indexOf(TAB, at);
    const end = bytes.indexOf(NEWLINE, tab);
    const digits = bytes.toString('latin1', at, Math.max(at, tab));
    if (end < 0 || !DIGITS.test(digits)) {
      throw new StoreError(
        'unavailable',
        `an answer is garbled: no line of the feed is ${JSON.stringify(bytes.toString('utf8', at, at + 100))}`,
      );
    }
    const sequence = BigInt(digits);
    lines.push({ sequence, ingestedAtMs: ingestTimeOf(sequence), bytes, start: tab + 1, end });
    at = end + 1;
  }
  return lines;
}

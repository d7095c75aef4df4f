import type { SeededRandom } from '../../bench/events/seeded-random.ts';
import {
  ACTIONS,
  type Batch,
  COUNTRIES,
  countEvents,
  Difference,
  eventText,
  RETENTION_MS,
  Received,
  type SentEvent,
  type SentEvents,
  sentEvent,
  ZONES,
} from './sent-events.ts';
import type { Answer, TorturedProgram } from './tortured-program.ts';

export interface ReadingOptions {
  readonly program: Pick<TorturedProgram, 'ask'>;
  readonly sent: SentEvents;
  /** The clock of the program, Unix milliseconds. */
  readonly now: () => number;
  /** How long the program keeps events; Infinity: no event of the run expires. */
  readonly retentionMs: number;
}

export interface ReadingFigures {
  searches: number;
  feedEvents: number;
  /** Answers of the feed that said that events behind the cursor have expired. */
  expiredCursors: number;
  /** Walks through the whole feed from its beginning. */
  walks: number;
}

/** One consumer of the feed. */
export class FeedReader {
  readonly #options: ReadingOptions;
  readonly #figures: ReadingFigures;
  readonly #path: string;
  readonly #part: string | undefined;
  readonly received: Received;
  #cursor = '';

  /** `zones` are those of a part of all zones where it asks for one (`K/N`). */
  constructor(options: ReadingOptions, figures: ReadingFigures, zones: readonly number[] | 'all', part?: string) {
    this.#options = options;
    this.#figures = figures;
    this.#path = `/shield/event-logs/${zones === 'all' || part !== undefined ? 'all' : zones.join(',')}/feed`;
    this.#part = part;
    this.received = new Received(options.sent, zones);
  }

  /** Reads an answer. Resolves with whether that was all there is; with undefined where there was no whole answer. */
  async read(limit: number, waitSeconds = 0): Promise<boolean | undefined> {
    const parameters = new URLSearchParams({ limit: String(limit), wait: String(waitSeconds) });
    if (this.#cursor !== '') parameters.set('cursor', this.#cursor);
    if (this.#part !== undefined) parameters.set('part', this.#part);
    const path = `${this.#path}?${parameters}`;
    const answer = await this.#options.program.ask(path);
    if (answer === undefined) return undefined;
    if (answer.status === 416 && Number.isFinite(this.#options.retentionMs)) {
      this.#cursor = (JSON.parse(answer.text) as { readonly oldestCursor: string }).oldestCursor;
      this.#figures.expiredCursors += 1;
      return false;
    }
    if (answer.status !== 200) throw new Difference(`${path} was answered ${answer.status}: ${answer.text}`);
    return this.#take(path, answer);
  }

  #take(path: string, { text, hadFaults }: Answer): boolean | undefined {
    const lines = text.trimEnd().split('\n');
    const last = JSON.parse(lines.pop() ?? '') as { readonly cursor?: string; more?: boolean; count?: number; incomplete?: number };
    if (last.cursor === undefined || last.count !== lines.length) throw new Difference(`${path} ended with ${JSON.stringify(last)}`);
    if (last.incomplete !== undefined) {
      if (!hadFaults) throw new Difference(`${path} lacks ${last.incomplete} events, and no fault was injected`);
      return undefined;
    }
    for (const line of lines) this.received.add(line);
    this.#cursor = last.cursor;
    this.#figures.feedEvents += lines.length;
    return last.more === false;
  }
}

/**
 * Reads the feed as a new consumer, from its beginning to its end: all events that were acknowledged when it began have to be there. Where
 * it is given up by `isOver`, only what came is held to what was sent.
 */
export async function walkFeed(
  options: ReadingOptions,
  figures: ReadingFigures,
  {
    zones,
    limit,
    isOver = () => false,
  }: { readonly zones: readonly number[] | 'all'; readonly limit: number; readonly isOver?: () => boolean },
): Promise<Received> {
  const due = options.sent.acknowledged();
  const reader = new FeedReader(options, figures, zones);
  while ((await reader.read(limit)) !== true) {
    if (isOver()) return reader.received;
  }
  reader.received.requireAll(due, options.now() - options.retentionMs);
  figures.walks += 1;
  return reader.received;
}

interface Filter {
  readonly field: 'action' | 'country';
  readonly value: string;
}

interface Row {
  readonly logId: string;
  readonly timestamp: number;
  readonly log: unknown;
  readonly fields: Readonly<Record<string, string>>;
}

interface Group {
  readonly key: Readonly<Record<string, string>>;
  readonly count: number;
}

interface SearchAnswer {
  readonly total: number;
  readonly rows: readonly Row[] | null;
  readonly groups: readonly Group[] | null;
}

/** Asks drawn searches. */
export class Searcher {
  readonly #options: ReadingOptions;
  readonly #figures: ReadingFigures;
  readonly #random: SeededRandom;

  constructor(options: ReadingOptions, figures: ReadingFigures, random: SeededRandom) {
    this.#options = options;
    this.#figures = figures;
    this.#random = random;
  }

  async search(): Promise<void> {
    const { now } = this.#options;
    const nowMs = now();
    const fromMs = nowMs - 1 - this.#random.below(this.#random.below(2) === 0 ? 20 * 60_000 : RETENTION_MS);
    const toMs = fromMs + 1 + this.#random.below(nowMs - fromMs + 1_000);
    const filters: Filter[] = [];
    if (this.#random.below(2) === 0) filters.push({ field: 'action', value: this.#of(ACTIONS) });
    if (this.#random.below(3) === 0) filters.push({ field: 'country', value: this.#of(COUNTRIES) });
    const zone = this.#random.below(4) === 0 ? 'all' : this.#of(ZONES);
    const isGrouped = this.#random.below(3) === 0;
    const pageSize = 1 + this.#random.below(300);
    await this.ask({ zone, fromMs, toMs, filters, page: isGrouped ? 'groups' : { index: this.#random.below(3), size: pageSize } });
  }

  /** Asks one search, and holds its answer to what was sent. Resolves with its total, or undefined where it was not answered. */
  async ask(search: DrawnSearch): Promise<number | undefined> {
    const { program, sent, now, retentionMs } = this.#options;
    const { zone, fromMs, toMs, filters, page } = search;
    const due = sent.acknowledged();
    const body = JSON.stringify({
      from: fromMs,
      to: toMs,
      filters: filters.map(({ field, value }) => ({ field, op: 'eq', value: [value] })),
      ...(page === 'groups' ? { groupBy: ['action'], pageSize: 100 } : { page: page.index, pageSize: page.size }),
    });
    const path = `/shield/event-logs/${zone}/${zone === 'all' ? 'explore' : 'search'}`;
    const answer = await program.ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    if (answer === undefined) return undefined;
    if (answer.status !== 200) throw new Difference(`${path} ${body} was answered ${answer.status}: ${answer.text}`);
    const isIncomplete = answer.headers['shield-incomplete'] !== undefined;
    if (isIncomplete && !answer.hadFaults) throw new Difference(`${path} ${body} is incomplete, and no fault was injected`);
    const found = JSON.parse(answer.text) as SearchAnswer;
    const nowMs = now();
    const keptFromMs = nowMs - retentionMs;
    const wrong = wrongAnswer(found, search, { due: isIncomplete ? [] : due, sent, keptFromMs });
    if (wrong !== undefined) throw new Difference(`${path} ${body}, at ${nowMs}: ${wrong}`);
    this.#figures.searches += 1;
    return found.total;
  }

  #of<T>(values: readonly T[]): T {
    return values[this.#random.below(values.length)] as T;
  }
}

export interface DrawnSearch {
  readonly zone: number | 'all';
  readonly fromMs: number;
  readonly toMs: number;
  readonly filters: readonly Filter[];
  readonly page: 'groups' | { readonly index: number; readonly size: number };
}

/** What an answer is held to. */
interface Known {
  /** What has to be there, as far as it is of `keptFromMs` or later. */
  readonly due: readonly Batch[];
  readonly sent: SentEvents;
  readonly keptFromMs: number;
}

/** Says what of an answer cannot be; undefined where all of it can. */
function wrongAnswer(found: SearchAnswer, search: DrawnSearch, known: Known): string | undefined {
  const isMatch = matcherOf(search);
  if (search.page === 'groups') {
    const counts = new Map((found.groups ?? []).map(({ key, count }) => [key['action'], count]));
    if ([...counts.keys()].some((action) => !ACTIONS.includes(action as 'allowed'))) return `there is a group that was never sent`;
    const wrong = ACTIONS.map((action) =>
      wrongCount(`of ${action}`, counts.get(action) ?? 0, search, known, (event) => event.action === action && isMatch(event)),
    );
    return wrong.find((each) => each !== undefined);
  }
  return wrongCount('', found.total, search, known, isMatch) ?? wrongRows(found.rows ?? [], search, known.sent, isMatch);
}

function matcherOf({ zone, filters }: DrawnSearch): (event: SentEvent) => boolean {
  return (event) => (zone === 'all' || event.zone === zone) && filters.every(({ field, value }) => event[field] === value);
}

function wrongCount(
  what: string,
  count: number,
  { fromMs, toMs }: DrawnSearch,
  { due, sent, keptFromMs }: Known,
  isMatch: (event: SentEvent) => boolean,
): string | undefined {
  const least = countEvents(due, isMatch, Math.max(fromMs, keptFromMs), toMs);
  const most = countEvents(sent.batches, isMatch, fromMs, toMs);
  return count >= least && count <= most ? undefined : `${count} events ${what} were found; ${least} to ${most} are there`;
}

/** The event of a row, letter by letter as it was sent. */
function textOfRow({ logId, timestamp, log, fields }: Row, shieldZoneId: number): string {
  return JSON.stringify({ logId, shieldZoneId, timestamp, ...fields, log });
}

const EXPORTED_MS = 60_000;

/** Exports the events of all zones from `fromMs` on, minute by minute, and holds them to be those that were acknowledged, each once. */
export async function exportAll({ program, sent, now }: ReadingOptions, fromMs: number): Promise<void> {
  const received = new Received(sent, 'all');
  const [path, untilMs] = ['/shield/event-logs/all/export', now()];
  for (let from = fromMs; from < untilMs; from += EXPORTED_MS) {
    const body = JSON.stringify({ from, to: Math.min(from + EXPORTED_MS, untilMs) });
    const headers = { 'content-type': 'application/json', accept: 'application/x-ndjson' };
    const answer = await program.ask(path, { method: 'POST', headers, body });
    if (answer?.status !== 200) throw new Difference(`${path} ${body} was answered ${answer?.status}: ${answer?.text}`);
    for (const line of answer.text.split('\n').slice(0, -1)) {
      const row = JSON.parse(line) as Row & { readonly shieldZoneId: number };
      received.add(textOfRow(row, row.shieldZoneId));
    }
  }
  received.requireAll(sent.acknowledged(), fromMs);
}

function wrongRows(
  rows: readonly Row[],
  { fromMs, toMs }: DrawnSearch,
  sent: SentEvents,
  isMatch: (event: SentEvent) => boolean,
): string | undefined {
  const seen = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const found = sent.find(row.logId);
    if (found === undefined) return `${row.logId} was never sent`;
    const event = sentEvent(found.batch, found.index);
    const { logId, timestamp } = row;
    const text = textOfRow(row, event.zone);
    if (text !== eventText(found.batch, found.index)) return `${logId} is something else: ${text}`;
    if (!isMatch(event) || timestamp < fromMs || timestamp >= toMs) return `${logId} does not match`;
    if (seen.has(logId)) return `${logId} is there twice`;
    seen.add(logId);
    if (index > 0 && timestamp > (rows[index - 1]?.timestamp ?? 0)) return `${logId} is not in the order of time`;
  }
  return undefined;
}

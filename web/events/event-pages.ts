import { computed, signal } from '@preact/signals';
import { askExplorer, type Window } from '../api/explore.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { programNow } from '../api/program-clock.ts';
import type { Answered } from '../state/answers.ts';
import { conditionsOfQuestion, type Question } from '../state/question.ts';
import { REACH_MS } from '../state/time-range.ts';
import { itemAt, lineCount, PAGE_ITEMS, type PageAnswer, type Stretch } from '../table/loaded-pages.ts';
import { createPageLoader } from '../table/page-loader.ts';
import { nextStretch } from './next-stretch.ts';

/** A window as it may be asked for at the time `now`: what has left the reach of searches is cut off. Null where nothing is left. */
export function withinReach({ from, to }: Window, now: number): Window | null {
  const begin = Math.max(from, now - REACH_MS);
  return begin < to ? { from: begin, to } : null;
}

async function askPage(question: Question, { from, to }: Stretch, page: number, signal: AbortSignal): Promise<PageAnswer<ParsedRow>> {
  const window = withinReach({ from, to }, programNow());
  if (window === null) return { page, items: [], total: 0, from: to };
  const body = { ...window, ...conditionsOfQuestion(question), page, pageSize: PAGE_ITEMS };
  const { rows, total } = await askExplorer(question.zones, body, signal);
  return { page, items: rows ?? [], total, from: window.from };
}

const loader = createPageLoader<ParsedRow, Question>({ ask: askPage, keyOf: rowKey });

/** The events of the table, as far as they are loaded. */
export const { loaded, turn, failure, want, retry } = loader;

/** Stretches before the present one, which the table goes back to. */
const earlier = signal<readonly Stretch[]>([]);

export const hasEarlier = computed(() => earlier.value.length > 0);

/** Begins at the newest event of an answer. */
export function startEvents({ question, answer }: Answered): void {
  earlier.value = [];
  const { from, to } = question.body;
  const first = { page: 0, items: answer.rows ?? [], total: answer.total, from };
  loader.start(question, { from, to, skip: 0 }, first);
}

const SAME_TIME_ROWS = 500;

/** The rows of the time of `last`, at least up to it. */
async function rowsOfTime(question: Question, last: ParsedRow, signal: AbortSignal): Promise<readonly ParsedRow[]> {
  const window = { from: last.timestamp, to: last.timestamp + 1 };
  const found: ParsedRow[] = [];
  for (let page = 0; ; page += 1) {
    const { rows } = await askExplorer(
      question.zones,
      { ...window, ...conditionsOfQuestion(question), page, pageSize: SAME_TIME_ROWS },
      signal,
    );
    found.push(...(rows ?? []));
    const isWhole = (rows ?? []).length < SAME_TIME_ROWS;
    if (isWhole || found.some((row) => rowKey(row) === rowKey(last))) return found;
  }
}

/** Goes on behind the last line of a table of `most` lines. Throws RequestFailed. */
export async function goOn(most: number, signal: AbortSignal): Promise<void> {
  const [now, question] = [loaded.peek(), loader.asked.peek()];
  const last = now === null ? undefined : itemAt(now, lineCount(now, most) - 1);
  if (now === null || question === null || last === undefined) return;
  const rows = await rowsOfTime(question, last, signal);
  const isSame = loader.asked.peek() === question && loaded.peek()?.stretch.to === now.stretch.to;
  if (!isSame || loaded.peek()?.stretch.skip !== now.stretch.skip) return;
  earlier.value = [...earlier.value, now.stretch];
  loader.start(question, nextStretch(now.stretch, last, rows));
}

/** Goes back to the stretch before. */
export function goBack(): void {
  const question = loader.asked.peek();
  const before = earlier.peek().at(-1);
  if (question === null || before === undefined) return;
  earlier.value = earlier.peek().slice(0, -1);
  loader.start(question, before);
}

/** The events beside another one in a table. */
export interface Neighbours {
  readonly newer: ParsedRow | undefined;
  readonly older: ParsedRow | undefined;
}

/** The events beside a loaded one in the table; a component that reads them is drawn anew with the table. */
export function neighboursOf(key: string): Neighbours {
  const now = loaded.value;
  for (const [page, items] of now?.pages ?? []) {
    const at = items.findIndex((row) => rowKey(row) === key);
    if (now === null || at === -1) continue;
    const line = page * PAGE_ITEMS + at - now.stretch.skip;
    return { newer: line > 0 ? itemAt(now, line - 1) : undefined, older: itemAt(now, line + 1) };
  }
  return { newer: undefined, older: undefined };
}

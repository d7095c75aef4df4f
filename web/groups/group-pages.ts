import type { EventGroup } from '../../query/plan/search-result.ts';
import { askExplorer } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { withinReach } from '../events/event-pages.ts';
import type { Answered } from '../state/answers.ts';
import { conditionsOfQuestion, type Question } from '../state/question.ts';
import { PAGE_ITEMS, type PageAnswer, type Stretch } from '../table/loaded-pages.ts';
import { createPageLoader } from '../table/page-loader.ts';

async function askPage(question: Question, { from, to }: Stretch, page: number, signal: AbortSignal): Promise<PageAnswer<EventGroup>> {
  const window = withinReach({ from, to }, programNow());
  if (window === null) return { page, items: [], total: 0, from: to };
  const { groupBy = [], buckets = 0 } = question.body;
  const body = { ...window, ...conditionsOfQuestion(question), groupBy, buckets, page, pageSize: PAGE_ITEMS };
  const { groups, total } = await askExplorer(question.zones, body, signal);
  return { page, items: groups ?? [], total, from: window.from };
}

/** Names a group among those of one question. */
function groupKey({ key }: EventGroup): string {
  return JSON.stringify(key);
}

/** The groups of the table, as far as they are loaded. */
const pages = createPageLoader<EventGroup, Question>({ ask: askPage, keyOf: groupKey });

export const { loaded, turn, failure, want, retry } = pages;

/** Begins at the largest group of an answer. */
export function startGroups({ question, answer }: Answered): void {
  const { from, to } = question.body;
  pages.start(question, { from, to, skip: 0 }, { page: 0, items: answer.groups ?? [], total: answer.total, from });
}

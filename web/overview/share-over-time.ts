import { askExplorer, type HistogramInWindow } from '../api/explore.ts';
import { bothSearches, searchOfComparison } from '../state/conditions.ts';
import { conditionsOfQuestion, type Question } from '../state/question.ts';
import { totalsOf } from './stacked-bars.ts';

/** Which part of the events the conditions of a comparison find, over time. */
export interface ShareOverTime {
  /** Of each bar, from 0 to 1; null where the bar has no events. */
  readonly shares: readonly (number | null)[];
  /** Of all bars together. */
  readonly whole: number | null;
}

/** Asks the same question with the conditions of its comparison, for the same bars. Throws RequestFailed. */
export async function shareOverTime(question: Question, all: HistogramInWindow, signal: AbortSignal): Promise<ShareOverTime> {
  const { from, to, histogram } = question.body;
  const conditions = searchOfComparison(question.comparison);
  if (histogram === undefined || conditions === null) throw new Error('the question has no histogram, or its comparison no conditions');
  const search = bothSearches(conditionsOfQuestion(question), conditions);
  const asked = { from, to, ...search, pageSize: 0, histogram: { width: histogram.width, by: null } };
  const { histogram: part } = await askExplorer(question.zones, asked, signal);
  if (part === null) throw new Error('the answer has no histogram');
  return sharesOf(totalsOf(part), totalsOf(all));
}

/** What has come in between the two answers makes no share greater than all. */
export function sharesOf(part: readonly number[], all: readonly number[]): ShareOverTime {
  const share = (count: number, total: number): number | null => (total === 0 ? null : Math.min(1, count / total));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return { shares: all.map((total, bucket) => share(part[bucket] ?? 0, total)), whole: share(sum(part), sum(all)) };
}

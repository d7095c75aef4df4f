import { askExplorer, type HistogramInWindow, type QuestionBody, type Window } from '../api/explore.ts';
import { type FieldValue, filterChange } from '../state/conditions.ts';
import { conditionsOfQuestion, type Question } from '../state/question.ts';
import { nearestBucket, stretchOf } from './stacked-bars.ts';

/** A line has one group for each spelling of its values. */
const MOST_GROUPS = 500;

/** A question that only counts, about the events of another one that meet further conditions. */
function narrowed(question: Question, conditions: readonly FieldValue[]): { readonly zones: string; readonly body: QuestionBody } {
  const { from, to } = question.body;
  let [search, asked] = [conditionsOfQuestion(question), question.zones];
  for (const { field, value } of conditions) {
    const change = filterChange({ search }, 'filters', field, value);
    if (change?.search !== undefined) search = change.search;
    else asked = value;
  }
  return { zones: asked, body: { from, to, ...search, pageSize: 0 } };
}

/** The time of the bars that a stretch lies in, and of one on each side, as far as it is in the window. */
export function withBarsBeside(histogram: HistogramInWindow, window: Window, stretch: Window): Window {
  const [first, last] = [nearestBucket(histogram, stretch.from), nearestBucket(histogram, stretch.to - 1)];
  return stretchOf(histogram, window, Math.max(0, first - 1), Math.min(histogram.buckets, last + 2));
}

/**
 * When the first and the last event with these values were, in Unix milliseconds, among those of a question that are in the stretch; null
 * where there is none. Throws RequestFailed.
 */
export async function firstAndLast(
  question: Question,
  conditions: readonly FieldValue[],
  stretch: Window,
  signal: AbortSignal,
): Promise<{ readonly first: number; readonly last: number } | null> {
  const { zones, body } = narrowed(question, conditions);
  const groupBy = conditions.map(({ field }) => field);
  const { groups } = await askExplorer(zones, { ...body, ...stretch, groupBy, pageSize: MOST_GROUPS }, signal);
  if (groups === null || groups.length === 0) return null;
  const [first, last] = [groups.map((group) => group.firstSeen), groups.map((group) => group.lastSeen)];
  return { first: Math.min(...first), last: Math.max(...last) };
}

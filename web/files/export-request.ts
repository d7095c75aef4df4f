import type { Question } from '../state/question.ts';
import { REACH_MS } from '../state/time-range.ts';

/** The path that exports the events of a question. */
export function exportPath({ zones }: Question): string {
  return `shield/event-logs/${zones}/export`;
}

/** The body for it, at the time `now`: the window of the page, without what has left the reach of searches meanwhile. */
export function exportBody({ body: { from, to, query, filters, exclude } }: Question, now: number): object {
  return { from: Math.min(Math.max(from, now - REACH_MS), to - 1), to, query, filters, exclude };
}

import type { OfferedColumn } from '../state/offered-columns.ts';
import type { Question } from '../state/question.ts';
import { REACH_MS } from '../state/time-range.ts';

/** What a file of CSV has that is not as usual. */
export interface CsvChoice {
  /** The columns of a table; null: all of an event. */
  readonly columns: readonly OfferedColumn[] | null;
  readonly hasByteOrderMark: boolean;
}

/** The columns of a table that a file of these events may have: the zone is one where they are of several zones. */
export function fileColumns({ zones }: Question, columns: readonly OfferedColumn[]): readonly OfferedColumn[] {
  return columns.filter((column) => column !== 'shieldZoneId' || zones === 'all' || zones.includes(','));
}

/** The path that exports the events of a question, as CSV where something is chosen for it. */
export function exportPath(question: Question, { columns, hasByteOrderMark }: CsvChoice = ALL): string {
  const choice = new URLSearchParams();
  if (columns !== null) choice.set('columns', fileColumns(question, columns).join(','));
  if (hasByteOrderMark) choice.set('bom', 'true');
  return `shield/event-logs/${question.zones}/export${choice.size === 0 ? '' : `?${choice}`}`;
}

const ALL: CsvChoice = { columns: null, hasByteOrderMark: false };

/** The body for it, at the time `now`: the window of the page, without what has left the reach of searches meanwhile. */
export function exportBody({ body: { from, to, query, filters, exclude } }: Question, now: number): object {
  return { from: Math.min(Math.max(from, now - REACH_MS), to - 1), to, query, filters, exclude };
}

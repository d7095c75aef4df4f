import { useRef } from 'preact/hooks';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';
import { MAX_FACET_VALUES } from '../../query/search-limits.ts';
import { askExplorer } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { withinReach } from '../events/event-pages.ts';
import { type FurtherAnswer, useFurtherAnswer } from '../state/further-answer.ts';
import { conditionsOfQuestion, eventsKey, type Question } from '../state/question.ts';

/** What is known of the values of a field beyond the first ones. */
export interface MoreValues {
  /** Null: not there yet, or not asked for. */
  readonly values: Facet['values'] | null;
  /** Null: they have not failed to come. */
  readonly failed: Extract<FurtherAnswer<never>, { kind: 'failed' }> | null;
}

/** The values of a field in the events of a question, as many as one facet may have, while they are wanted. */
export function useMoreValues(question: Question, field: GroupDimension, isWanted: boolean): MoreValues {
  const kept = useRef<Facet['values'] | null>(null);
  const window = withinReach(question.body, programNow());
  const about = isWanted && window !== null ? JSON.stringify([eventsKey(question), field]) : null;
  const answer = useFurtherAnswer(about, async (signal) => {
    const facets = [{ field, limit: MAX_FACET_VALUES, order: 'count' as const }];
    const asked = { ...(window ?? question.body), ...conditionsOfQuestion(question), pageSize: 0, facets };
    return (await askExplorer(question.zones, asked, signal)).facets?.[0]?.values ?? [];
  });
  // Those of the answer before stay until the next ones are there.
  if (answer.kind === 'found') kept.current = answer.found;
  else if (answer.kind === 'failed' || !isWanted) kept.current = null;
  return { values: kept.current, failed: answer.kind === 'failed' ? answer : null };
}

import { useEffect, useState } from 'preact/hooks';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';
import { MAX_FACET_VALUES } from '../../query/search-limits.ts';
import { type Failure, RequestFailed } from '../api/client.ts';
import { askExplorer } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { conditionsOfQuestion, withinReach } from '../events/event-pages.ts';
import type { Question } from '../state/question.ts';

/** What is known of the values of a field beyond the first ones. */
export interface MoreValues {
  /** Null: not there yet, or not asked for. */
  readonly values: Facet['values'] | null;
  readonly failure: Failure | null;
  readonly retry: () => void;
}

const NOTHING = { values: null, failure: null };

/** The values of a field in the events of a question, as many as one facet may have, while they are wanted. */
export function useMoreValues(question: Question, field: GroupDimension, isWanted: boolean): MoreValues {
  const [known, setKnown] = useState<Omit<MoreValues, 'retry'>>(NOTHING);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    // Those of the answer before stay until the next ones are there.
    if (!isWanted) return setKnown(NOTHING);
    const abort = new AbortController();
    const window = withinReach(question.body, programNow());
    if (window === null) return;
    const facets = [{ field, limit: MAX_FACET_VALUES, order: 'count' as const }];
    askExplorer(question.zones, { ...window, ...conditionsOfQuestion(question), pageSize: 0, facets }, abort.signal).then(
      (answer) => abort.signal.aborted || setKnown({ values: answer.facets?.[0]?.values ?? [], failure: null }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (!(error instanceof RequestFailed)) throw error;
        setKnown({ values: null, failure: error.failure });
      },
    );
    return () => abort.abort();
  }, [question, field, isWanted, turn]);
  return { ...known, retry: () => setTurn(turn + 1) };
}

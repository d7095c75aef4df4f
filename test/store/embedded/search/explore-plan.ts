import type { ExplorePlan } from '../../../../query/plan/explore-plan.ts';
import type { Predicate, SearchPlan } from '../../../../query/plan/search-plan.ts';
import { rowsPlan } from '../stored-events.ts';

/** A question about the events of the search that asks for its total and whatever `more` says. */
export function explorePlan(search: Partial<SearchPlan>, more: Partial<ExplorePlan> = {}): ExplorePlan {
  return { search: rowsPlan({ page: { index: 0, size: 0 }, ...search }), histogram: null, facets: [], selection: null, ...more };
}

export function actionIs(...values: string[]): Predicate {
  return { kind: 'equals', column: 'action', values, folded: true };
}

import type { GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';

/** A value that is more frequent in the selection than in the rest. Shares are 0..1. */
export interface Difference {
  readonly field: GroupDimension;
  readonly value: string;
  readonly selected: number;
  readonly selectedShare: number;
  readonly restShare: number;
}

interface Totals {
  /** Events of the whole result, and of the selection in it. */
  readonly all: number;
  readonly selected: number;
}

/** Smaller differences are chance. */
const LEAST = 0.01;

/** The values of all fields that the selection has more of, the greatest difference first. */
export function differencesOf(facets: readonly Facet[], totals: Totals): readonly Difference[] {
  const rest = totals.all - totals.selected;
  const all = facets.flatMap(({ field, values }) =>
    values.map(({ value, count, selected }): Difference => {
      const chosen = selected ?? 0;
      return {
        field,
        value,
        selected: chosen,
        selectedShare: shareOf(chosen, totals.selected),
        restShare: shareOf(count - chosen, rest),
      };
    }),
  );
  return all.filter((one) => excess(one) >= LEAST).toSorted((a, b) => excess(b) - excess(a));
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function excess({ selectedShare, restShare }: Difference): number {
  return selectedShare - restShare;
}

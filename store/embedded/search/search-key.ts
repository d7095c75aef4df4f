import { hash } from 'node:crypto';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';

/** Tells searches apart by zones and predicate, either of which can have thousands of values: a digest stands for both. */
export function searchKey({ zones, where }: Pick<SearchPlan, 'zones' | 'where'>): string {
  const text = JSON.stringify(where, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return hash('sha256', `${zones} ${text}`);
}

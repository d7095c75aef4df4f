import type { DuckDBValue } from '@duckdb/node-api';
import { unmarkText } from '../../../sql/marked-text.ts';
import type { GroupFacts } from './group-facts.ts';

/** A page of groups: their keys in the order of the answer, and what is known of each. */
export interface FoundGroups extends FoundKeys {
  readonly facts: readonly GroupFacts[];
}

export interface FoundKeys {
  /** How many groups there are. */
  readonly total: number;
  readonly keys: readonly (readonly string[])[];
}

/** What the rows of a `groupPageStatement` say. `counts`: how many events each of the groups has. */
export function keysIn(rows: readonly DuckDBValue[][]): FoundKeys & { readonly counts: readonly number[] } {
  const groups = rows.filter((row) => row.at(-1) !== null);
  return {
    total: Number(rows[0]?.[0] ?? 0),
    keys: groups.map((row) => row.slice(1, -1).map((key) => unmarkText(key as string))),
    counts: groups.map((row) => Number(row.at(-1))),
  };
}

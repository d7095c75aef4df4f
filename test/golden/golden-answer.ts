import { expect } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { SearchResult } from '../../query/plan/search-result.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { GOLDEN_NOW, type GoldenCase } from './golden-case.ts';

/** The plan of a case. Throws where the case is refused. */
export function planOf({ request, zone }: GoldenCase): SearchPlan {
  return compileSearch(Buffer.from(JSON.stringify(request)), { zoneId: zone, nowMs: GOLDEN_NOW });
}

/** Holds the answer of a store to that of the case. */
export async function expectAnswer(answer: SearchResult, expected: GoldenCase): Promise<void> {
  expect(answer.total).toBe(expected.total);
  if (answer.kind === 'rows') {
    const answered = await rowsOf(answer);
    expect(answered.map(({ logId }) => logId)).toEqual(expected.rows);
    const rows = new Map(answered.map((row) => [row.logId, row]));
    expect(Object.fromEntries(Object.keys(expected.fields).map((id) => [id, rows.get(id)?.fields]))).toEqual(expected.fields);
    expect(Object.fromEntries(Object.keys(expected.logs).map((id) => [id, rows.get(id)?.logJson]))).toEqual(expected.logs);
    return;
  }
  const groups = answer.groups.map(({ key, count, firstSeen, lastSeen, context, sparkline = null }) => {
    return { key: Object.values(key), count, seen: [firstSeen, lastSeen], context, sparkline };
  });
  expect(groups).toMatchObject(expected.groups ?? []);
}

import { compileSearch } from '../../query/request/compile-search.ts';
import { searchJson } from '../../src/http/search-json.ts';
import type { EventStore } from '../../store/event-store.ts';
import { uncounted, wholeAnswer } from '../fixtures/whole-answer.ts';
import type { ZoneRequest } from './arbitrary-request.ts';

/** The answer over the wire, without the wire: request bytes to a plan, the plan to a result, the result to the response's text. */
export async function answer(store: Pick<EventStore, 'search'>, { zoneId, body }: ZoneRequest, nowMs: number): Promise<unknown> {
  const plan = compileSearch(Buffer.from(JSON.stringify(body)), { zoneId, nowMs });
  return JSON.parse((await wholeAnswer(searchJson(await store.search(plan), plan.page, uncounted))).toString());
}

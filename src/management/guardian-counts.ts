import { EdgeError } from '../../edge/edge-error.ts';
import type { GuardianDay } from '../../edge/local/local-resource.ts';
import { GUARDIAN_COUNTERS } from '../../edge/operations/shield-zones.ts';
import { DAY_MS } from '../../query/durations.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventGroup } from '../../query/plan/search-result.ts';
import type { EventStore } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { Deadline, DeadlinePassed } from '../http/interruption.ts';
import { asStoreProblem, RequestProblem } from '../http/problem.ts';

const DAYS = 28;
const PAGE_SIZE = 500;

type Counts = { -readonly [K in keyof GuardianDay['counts']]: number };

const noCounts = (): Counts => Object.fromEntries(GUARDIAN_COUNTERS.map((counter) => [counter, 0])) as Counts;

/**
 * Events have no field for the kind of a finding, so it is read from the action and the rule: rule ids that name a rate limit, a schema or
 * validation, or authentication count as such.
 */
function add(counts: Counts, { action, ruleId }: { readonly action: string; readonly ruleId: string }, events: number): void {
  counts.requestsInspected += events;
  if (action === 'blocked') counts.blockedRequests += events;
  if (action === 'logged') counts.loggedRequests += events;
  if (/rate-?_?limit/.test(ruleId) || /rate-?_?limit/.test(action)) counts.rateLimited += events;
  else if (/schema|validation/.test(ruleId)) counts.failedRequestValidation += events;
  else if (/auth/.test(ruleId)) counts.failedAuthenticationEnforcement += events;
}

function planOf(zoneId: number, fromMs: number, pageIndex: number): SearchPlan {
  return {
    zones: [zoneId],
    window: { fromMs, toMs: fromMs + DAYS * DAY_MS },
    where: { kind: 'equals', column: 'feature', values: ['api-guardian'], folded: true },
    page: { index: pageIndex, size: PAGE_SIZE },
    output: { kind: 'groups', by: ['action', 'ruleId'], buckets: DAYS },
  };
}

interface GuardianCountsOptions {
  readonly store: Pick<EventStore, 'search'>;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** A search that takes longer is given up, in milliseconds. */
  readonly deadlineMs: number;
}

/** What the caller may try again becomes EdgeError 503; any other error stays what it is. */
function asRefusal(error: unknown): unknown {
  const key = refusalKeyOf(error);
  if (key === undefined) return error;
  const { message: why } = asStoreProblem(error) as Error;
  const message = `The events could not be counted: ${why}`;
  return new EdgeError(503, key, message, { headers: { 'retry-after': '5' }, cause: error });
}

function refusalKeyOf(error: unknown): string | undefined {
  if (error instanceof DeadlinePassed) return 'metrics.deadline';
  if (error instanceof RequestProblem && error.errorKey === 'caller.busy') return 'metrics.busy';
  if (!(error instanceof StoreError)) return undefined;
  if (error.code === 'overloaded') return 'metrics.busy';
  return error.code === 'unavailable' ? 'metrics.unavailable' : undefined;
}

/**
 * Counts the stored events of the feature `api-guardian` for today and each of the 27 days before. Throws EdgeError 503 past the deadline,
 * and where the store is busy or cannot be reached.
 */
export async function guardianDays({ store, now, deadlineMs }: GuardianCountsOptions, zoneId: number): Promise<readonly GuardianDay[]> {
  const fromMs = Math.floor(now() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS;
  const days = Array.from({ length: DAYS }, (_, index) => ({
    day: new Date(fromMs + index * DAY_MS).toISOString().slice(0, 10),
    counts: noCounts(),
  }));

  function count({ key, sparkline = [] }: EventGroup): void {
    const named = { action: (key.action ?? '').toLowerCase(), ruleId: (key.ruleId ?? '').toLowerCase() };
    for (const [index, { counts }] of days.entries()) add(counts, named, sparkline[index] ?? 0);
  }

  for (let pageIndex = 0, total = 1; pageIndex * PAGE_SIZE < total; pageIndex += 1) {
    const plan = planOf(zoneId, fromMs, pageIndex);
    using deadline = new Deadline(deadlineMs, new AbortController().signal);
    const result = await store.search(plan, { signal: deadline.signal }).catch((error: unknown) => {
      throw asRefusal(error);
    });
    if (result.kind !== 'groups') throw new Error('a search for groups was answered with rows');
    total = result.total;
    result.groups.forEach(count);
  }
  return days;
}

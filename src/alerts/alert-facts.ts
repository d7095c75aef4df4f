import type { Alert } from '../../alerts/fold-state.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../query/durations.ts';
import type { Dimension, GroupDimension } from '../../query/event-fields.ts';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { Predicate, SearchPlan } from '../../query/plan/search-plan.ts';
import type { ExploreResult } from '../../query/plan/search-result.ts';
import { MAX_PER_ANSWER } from '../../query/search-limits.ts';
import { type LineClause, searchLineOf } from '../../query/search-line.ts';
import { zoneIdIn } from '../../query/zone-id.ts';
import { BudgetedCache } from '../../store/budgeted-cache.ts';
import type { StoreLogger } from '../../store/event-store.ts';
import type { Reads } from '../scheduling/scheduled-reads.ts';
import { type AlertFacts, type AlertValue, messageValue } from './told-alerts.ts';

/** So many questions about alerts are asked a minute, and each is interrupted after so long. */
export const FACTS_A_MINUTE = 20;
export const FACTS_DEADLINE_MS = SECOND_MS;
/** So many answers are kept for messages that are sent again. */
const KEPT_ANSWERS = 100;

const FACETS = 6;
const FACET_VALUES = 10;
const SHOWN_DIFFERENCES = 5;
/** A difference of shares that is worth a line. */
const LEAST_DIFFERENCE = 0.1;
const AROUND_MS = HOUR_MS / 2;

/** The fields that tell most, in this order. */
const TELLING: readonly GroupDimension[] = ['url', 'ip', 'ua', 'country', 'asn', 'ruleId', 'action', 'ja4', 'feature'];

type AskedRule = Pick<AlertRule, 'by' | 'zones' | 'where'>;

/** Resolves with what the events of an alert have, or in words why that is not known. Never rejects. */
export type FactsOf = (rule: AskedRule, alert: Alert) => Promise<AlertFacts | string>;

/** Asks the store what the events of alerts have, by two questions of the explorer for each. `now` is in Unix ms UTC. */
export function alertQuestions(reads: Pick<Reads, 'explore'>, now: () => number, logger: Pick<StoreLogger, 'warn'>): FactsOf {
  /** The questions of the last minute by the ids of their alerts, of which several receivers are told. */
  const asked = new Map<string, { readonly atMs: number; readonly answer: Promise<AlertFacts | string> }>();
  /** What was found out, by the ids of alerts. A message goes on being sent for days where its receiver is away. */
  const known = new BudgetedCache<string, AlertFacts>({ budget: KEPT_ANSWERS, sizeOf: () => 1 });

  async function ask(events: AlertEvents, by: AskedRule['by']): Promise<AlertFacts | string> {
    const signal = AbortSignal.timeout(FACTS_DEADLINE_MS);
    try {
      const [compared, actions] = await Promise.all([
        reads.explore(comparisonOf(events, by), { signal }),
        reads.explore(actionsOf(events), { signal }),
      ]);
      return { ...factsIn(compared), times: timesIn(actions) };
    } catch (error) {
      if (signal.aborted) return 'the search took too long';
      logger.warn({ err: error }, 'what the events of an alert have could not be found out; its message goes without');
      return 'the search failed';
    }
  }

  return async (rule, alert) => {
    const facts = known.use(alert.id);
    if (facts !== undefined) return facts;
    const nowMs = now();
    for (const [id, { atMs }] of asked) if (atMs <= nowMs - MINUTE_MS) asked.delete(id);
    const before = asked.get(alert.id);
    if (before !== undefined) return await before.answer;
    if (asked.size >= FACTS_A_MINUTE) return `more than ${FACTS_A_MINUTE} alerts were asked about in a minute`;
    const events = eventsOf(rule, alert);
    if (events === null) return 'a value of its group is too long to be searched';
    const answer = ask(events, rule.by);
    asked.set(alert.id, { atMs: nowMs, answer });
    const found = await answer;
    if (typeof found !== 'string') known.add(alert.id, found);
    return found;
  };
}

type AlertEvents = Pick<SearchPlan, 'zones' | 'window' | 'where'>;

/** The events of an alert. Null where no condition says its group. */
function eventsOf({ by, zones, where }: AskedRule, { group, fromMs, toMs }: Alert): AlertEvents | null {
  if (group.some(({ sha256 }) => sha256 !== undefined)) return null;
  const conditions: Predicate[] = [where];
  let searched = zones;
  for (const [nth, field] of by.entries()) {
    const value = group[nth]?.text ?? '';
    if (field === 'shieldZoneId') searched = [zoneIdIn(value) ?? 0];
    else conditions.push(hasValue(field, value));
  }
  return { zones: searched, window: { fromMs, toMs }, where: { kind: 'all', of: conditions } };
}

/** What the events have, against all events of their zones in their time and around. */
function comparisonOf({ zones, window, where }: AlertEvents, by: AskedRule['by']): ExplorePlan {
  const around = { fromMs: window.fromMs - AROUND_MS, toMs: window.toMs + AROUND_MS };
  const fields = TELLING.filter((field) => !by.includes(field)).slice(0, FACETS);
  return {
    search: { zones, window: around, where: { kind: 'everything' }, page: { index: 0, size: 0 }, output: { kind: 'rows' } },
    histogram: null,
    facets: fields.map((field) => ({ field, limit: FACET_VALUES, order: 'difference' })),
    selection: { window, where },
  };
}

/** The times of the events of each action. */
function actionsOf(events: AlertEvents): ExplorePlan {
  const groups = { page: { index: 0, size: MAX_PER_ANSWER }, output: { kind: 'groups', by: ['action'], buckets: 0 } } as const;
  return { search: { ...events, ...groups }, histogram: null, facets: [], selection: null };
}

/** An event of a group has its value byte by byte; the empty text is that of events without one, too. */
function hasValue(column: Dimension, value: string): Predicate {
  const equals: Predicate = { kind: 'equals', column, values: [value], folded: false };
  const isThere: Predicate = { kind: 'wildcard', column, parts: ['', ''] };
  return value === '' ? { kind: 'any', of: [equals, { kind: 'not', of: isThere }] } : equals;
}

/** The times of the first and the last event; null where there is none, or where there are more actions than one answer has. */
function timesIn({ page }: ExploreResult): AlertFacts['times'] {
  if (page.kind !== 'groups' || page.groups.length < Math.max(1, page.total)) return null;
  const { groups } = page;
  return {
    firstMs: Math.min(...groups.map(({ firstSeen }) => firstSeen)),
    lastMs: Math.max(...groups.map(({ lastSeen }) => lastSeen)),
  };
}

function factsIn({ page, selectedTotal, facets }: ExploreResult): Omit<AlertFacts, 'times'> {
  const [count, others] = [selectedTotal ?? 0, page.total - (selectedTotal ?? 0)];
  const byField = (facets ?? []).map(({ field, values }) => {
    return values.map((found) => ({ field, value: messageValue(found.value), count: found.selected ?? 0, around: found.count }));
  });
  const mostFrequent = (values: readonly AlertValue[]) => values.toSorted((one, other) => other.count - one.count).slice(0, 1);
  const top = byField.flatMap(mostFrequent).filter((value) => value.count > 0);
  /** The share of the events that have it, less its share of the others. */
  const difference = ({ count: here, around }: AlertValue) => here / Math.max(count, 1) - (around - here) / Math.max(others, 1);
  const different = byField.flat().filter((value) => difference(value) >= LEAST_DIFFERENCE);
  return { count, top, different: different.toSorted((one, other) => difference(other) - difference(one)).slice(0, SHOWN_DIFFERENCES) };
}

/**
 * Where the explorer shows the events of an alert, with times that stay as they are. A group's zone is the zone of the link. A value of
 * which only the beginning is kept, and a missing one, is left out, so that more events may be shown.
 */
export function explorerLink(publicUrl: string, { by, zones, search }: Pick<AlertRule, 'by' | 'zones' | 'search'>, alert: Alert): string {
  const parameters = new URLSearchParams();
  const ofGroup = by.flatMap((field, nth): readonly LineClause[] => {
    const { text = '', sha256 } = alert.group[nth] ?? {};
    return field === 'shieldZoneId' || text === '' || sha256 !== undefined ? [] : [{ field, op: 'eq', value: [text] }];
  });
  const zone = alert.group[by.indexOf('shieldZoneId')]?.text ?? (zones === 'all' ? zones : zones.join(','));
  if (zone !== 'all') parameters.set('zone', zone);
  parameters.set('from', new Date(alert.fromMs).toISOString());
  parameters.set('to', new Date(alert.toMs).toISOString());
  const whole = { ...search, filters: [...search.filters, ...ofGroup] };
  const line = searchLineOf(whole);
  if (line === null) parameters.set('search', JSON.stringify(whole));
  else if (line !== '') parameters.set('q', line);
  return `${publicUrl}/?${parameters}`;
}

import { DAY_MS } from '../../query/durations.ts';
import { DIMENSIONS, type Dimension, type GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';
import type { QuestionBody } from '../api/explore.ts';
import { barWidth } from './bucket-widths.ts';
import { searchOfComparison } from './conditions.ts';
import { type Comparison, type ExplorerState, zonesText } from './explorer-state.ts';
import { REACH_MS, type TimeRange, windowOfRange } from './time-range.ts';

/** One question, which answers everything that the page shows but for one facet. */
export interface Question {
  readonly zones: string;
  readonly body: QuestionBody;
  /** The question for the facet that takes as long as all else together. It is asked when the rest is there. */
  readonly lateBody: QuestionBody;
  /** What the window of the body is to a person. */
  readonly range: TimeRange;
  /** What the selection of the body is to a person; null where there is none. */
  readonly comparison: Comparison | null;
}

/** A facet, or the place of one that is not there yet. */
export type ShownFacet = Facet | { readonly field: GroupDimension; readonly distinct: null; readonly values: null };

/** The facets of an answer, with its question. */
export interface AnsweredFacets {
  readonly question: Question;
  readonly answer: { readonly facets: readonly ShownFacet[] | null };
}

/** Those that are there. */
export function knownFacets({ answer: { facets } }: AnsweredFacets): readonly Facet[] {
  return (facets ?? []).filter((facet) => facet.values !== null);
}

/** A facet with very many long values. */
const LATE_FACET = 'url';

/** The facets of a question's answer in the order in which they stand, with the late one or its place. */
export function withLateFacet(facets: readonly Facet[], late: Facet | null): readonly ShownFacet[] {
  const at = FACET_FIELDS.indexOf(LATE_FACET);
  return [...facets.slice(0, at), late ?? { field: LATE_FACET, distinct: null, values: null }, ...facets.slice(at)];
}

/** What tells most about an attack. */
const FIRST_FACETS: readonly Dimension[] = ['asn', 'country', 'ip', 'ua', 'url', 'ruleId', 'feature', 'action', 'ja4'];

/** The fields of the facets, in the order in which they stand: every dimension. */
const FACET_FIELDS: readonly Dimension[] = [...new Set([...FIRST_FACETS, ...DIMENSIONS])];

/** Few enough that an event stands above the fold of a usual screen. */
export const FACET_VALUES = 5;
/** Of each field, for the one list of what differs most. */
const COMPARED_VALUES = 12;

const PAGE_SIZE = 100;
const SPARKLINE_BUCKETS = 40;

/** The question of a state at the time `now`. */
export function questionOf(state: ExplorerState, now: number): Question {
  const window = windowOfRange(state.range, now);
  const { groupBy, comparison, by, zones } = state;
  const fields: readonly GroupDimension[] = zones === 'all' || zones.length > 1 ? [...FACET_FIELDS, 'shieldZoneId'] : FACET_FIELDS;
  const selection = selectionOf(comparison);
  const [order, limit] = selection === null ? (['count', FACET_VALUES] as const) : (['difference', COMPARED_VALUES] as const);
  const facets = fields.map((field) => ({ field, limit, order }) as const);
  const events = { ...window, ...state.search, ...(selection === null ? {} : { selection }) };
  return {
    range: state.range,
    comparison,
    zones: zonesText(zones),
    lateBody: { ...events, pageSize: 0, facets: facets.filter(({ field }) => field === LATE_FACET) },
    body: {
      ...events,
      ...(groupBy.length === 0 ? {} : { groupBy, buckets: SPARKLINE_BUCKETS }),
      page: 0,
      pageSize: PAGE_SIZE,
      histogram: { width: barWidth(window), by },
      facets: facets.filter(({ field }) => field !== LATE_FACET),
    },
  };
}

/** Changes exactly when the program has to be asked anew. */
export function questionKey({
  event: _event,
  columns: _columns,
  isLive: _isLive,
  isRefreshing: _isRefreshing,
  clock: _clock,
  ...asked
}: ExplorerState): string {
  return JSON.stringify(asked);
}

/** The conditions of a question, without all else that it asks for. */
export function conditionsOfQuestion({ body: { query, filters, exclude } }: Question): Pick<QuestionBody, 'query' | 'filters' | 'exclude'> {
  return { query, filters, exclude };
}

/** Whether two questions are about the same events, whatever they ask of them. */
export function isOfSameEvents(one: Question, other: Question): boolean {
  return eventsKey(one) === eventsKey(other);
}

/** Changes exactly when a question is about other events. */
export function eventsKey(question: Question): string {
  const { from, to } = question.body;
  return JSON.stringify([question.zones, from, to, conditionsOfQuestion(question)]);
}

/** The part of a question's own events; null where all of them are held against others. */
function selectionOf(comparison: Comparison | null): NonNullable<QuestionBody['selection']> | null {
  if (comparison === null || comparison.kind === 'before') return null;
  return comparison.kind === 'time' ? { from: comparison.from, to: comparison.to } : { ...searchOfComparison(comparison) };
}

/** A question about the events of another one and of the 24 hours before them, as far as searches reach at the time `now`. */
export function withDayBefore(question: Question, now: number): QuestionBody {
  const { body, lateBody } = question;
  const { from, to } = body;
  const facets = [...(body.facets ?? []), ...(lateBody.facets ?? [])];
  return {
    ...{ from: Math.max(now - REACH_MS, from - DAY_MS), to, ...conditionsOfQuestion(question) },
    selection: { from, to },
    pageSize: 0,
    facets: facets.map(({ field }) => ({ field, limit: COMPARED_VALUES, order: 'difference' })),
  };
}

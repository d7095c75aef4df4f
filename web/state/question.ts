import { DIMENSIONS, type Dimension, type GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';
import type { QuestionBody } from '../api/explore.ts';
import { barWidth } from './bucket-widths.ts';
import { type Comparison, type ExplorerState, zonesText } from './explorer-state.ts';
import { type TimeRange, windowOfRange } from './time-range.ts';

/** One question, which answers everything that the page shows. */
export interface Question {
  readonly zones: string;
  readonly body: QuestionBody;
  /** What the window of the body is to a person. */
  readonly range: TimeRange;
  /** What the selection of the body is to a person; null where there is none. */
  readonly comparison: Comparison | null;
}

/** The facets of an answer, with its question. */
export interface AnsweredFacets {
  readonly question: Question;
  readonly answer: { readonly facets: readonly Facet[] | null };
}

/** What tells most about an attack. */
const FIRST_FACETS: readonly Dimension[] = ['asn', 'country', 'ip', 'ua', 'url', 'ruleId', 'feature', 'action', 'ja4'];

/** The fields of the facets, in the order in which they stand: every dimension. */
const FACET_FIELDS: readonly Dimension[] = [...new Set([...FIRST_FACETS, ...DIMENSIONS])];

export const FACET_VALUES = 8;
/** Of each field, for the one list of what differs most. */
const COMPARED_VALUES = 12;

const PAGE_SIZE = 100;
const SPARKLINE_BUCKETS = 40;

/** The question of a state at the time `now`. */
export function questionOf(state: ExplorerState, now: number): Question {
  const window = windowOfRange(state.range, now);
  const { groupBy, comparison, by, zones } = state;
  const fields: readonly GroupDimension[] = zones === 'all' || zones.length > 1 ? [...FACET_FIELDS, 'shieldZoneId'] : FACET_FIELDS;
  const order = comparison === null ? 'count' : 'difference';
  const limit = comparison === null ? FACET_VALUES : COMPARED_VALUES;
  return {
    range: state.range,
    comparison,
    zones: zonesText(zones),
    body: {
      ...window,
      ...state.search,
      ...(groupBy.length === 0 ? {} : { groupBy, buckets: SPARKLINE_BUCKETS }),
      page: 0,
      pageSize: PAGE_SIZE,
      histogram: { width: barWidth(window), by },
      facets: fields.map((field) => ({ field, limit, order })),
      ...(comparison === null ? {} : { selection: selectionOf(comparison) }),
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

/** Whether two questions are about the same events, whatever they ask of them. */
export function isOfSameEvents(one: Question, other: Question): boolean {
  return eventsKey(one) === eventsKey(other);
}

function eventsKey({ zones, body: { from, to, query, filters, exclude } }: Question): string {
  return JSON.stringify([zones, from, to, query, filters, exclude]);
}

function selectionOf(comparison: Comparison): NonNullable<QuestionBody['selection']> {
  if (comparison.kind === 'value') return { filters: [{ field: comparison.field, op: 'eq', value: [comparison.value] }] };
  return { from: comparison.from, to: comparison.to };
}

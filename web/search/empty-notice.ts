import { useEffect } from 'preact/hooks';
import { queryTerms } from '../../query/query-terms.ts';
import { withoutClause, withoutTerm } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { NO_SEARCH } from '../state/explorer-state.ts';
import { REACH_MINUTES } from '../state/time-range.ts';
import { shortCount } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { clauseWords } from './chips.ts';
import { rangeWords } from './time-picker.ts';
import { knownZones, loadZones } from './zone-list.ts';
import { zonesWords } from './zone-picker.ts';

/** Why there are no events, and the steps that lead to some. */
export function EmptyNotice() {
  const { search, zones, range, clock } = explorer.value;
  const conditions = queryTerms(search.query).length + search.filters.length + search.exclude.length;
  const where = `${zonesWords(zones).toLowerCase()} ${range.kind === 'last' ? 'in the' : 'from'} ${rangeWords(range, clock)}`;
  const isAllTime = range.kind === 'last' && range.minutes === REACH_MINUTES;
  return html`<div class="panel notice" role="status">
    <p>${whyEmpty(conditions, where)}</p>
    <${Removals} />
    ${conditions < 2 ? null : html`<button onClick=${() => apply({ search: NO_SEARCH })}>Without any condition</button>`}
    ${
      isAllTime
        ? null
        : html`<button onClick=${() => apply({ range: { kind: 'last', minutes: REACH_MINUTES }, comparison: null })}>
            Last ${REACH_MINUTES / 60} hours
          </button>`
    }
    ${zones === 'all' ? null : html`<button onClick=${() => apply({ zones: 'all' })}>All zones</button>`}
    ${conditions === 0 && zones !== 'all' ? html`<${OtherZones} />` : null}
    ${
      conditions === 0 && zones === 'all' && isAllTime
        ? html`<p>Nothing has come in yet: events arrive by Kafka, by HTTP or from files (<a href="docs/">the interface</a>).</p>`
        : null
    }
  </div>`;
}

function whyEmpty(conditions: number, where: string): string {
  if (conditions === 0) return `There are no events in ${where}.`;
  return `No event in ${where} meets ${conditions === 1 ? 'the condition' : `all ${conditions} conditions`}.`;
}

/** A button for each condition, which searches without it. */
function Removals() {
  const { search } = explorer.value;
  const without = (words: string, next: typeof search) => html`<button onClick=${() => apply({ search: next })}>
    Without <span class="code">${words}</span>
  </button>`;
  return html`${queryTerms(search.query).map((term) => without(term, withoutTerm(search, term)))}
  ${(['filters', 'exclude'] as const).map((side) =>
    search[side].map((clause, index) => without(clauseWords(side, clause), withoutClause(search, side, index))),
  )}`;
}

/** The busiest zones with events in the time. */
function OtherZones() {
  useEffect(() => void loadZones(), [explorer.value.range]);
  const list = knownZones.value;
  if (list.kind !== 'known') return null;
  return html`${list.zones.slice(0, 5).map(
    ({ shieldZoneId, count }) => html`<button onClick=${() => apply({ zones: [shieldZoneId] })}>
      Zone ${shieldZoneId} (${shortCount(count)})
    </button>`,
  )}`;
}

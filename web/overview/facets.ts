import type { GroupDimension } from '../../query/event-fields.ts';
import { answered, answeredFacets, answeredPlain, askLateAgain, eventTotal, lateFailure } from '../state/answers.ts';
import { isDimension } from '../state/conditions.ts';
import { explorer } from '../state/explorer.ts';
import { countText, shareText, shortCount, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { moveAmongValues } from '../widgets/value-keys.ts';
import { filterBy, toggleGroup, Value } from '../widgets/value-menu.ts';
import { type FrequentValues, frequentValues } from './frequent-values.ts';

/** The most frequent values of every field, side by side, each with its share of the events. What is different stands in their place. */
export function Facets() {
  const shown = answered.value;
  const total = shown === null ? 0 : eventTotal(shown.answer);
  const facets = answeredFacets.value;
  if (shown === null || facets === null || total === 0) return null;
  if (shown.question.comparison !== null && explorer.value.comparison !== null) return null;
  return html`<section class="facets" aria-label="Fields" onKeyDown=${moveAmongValues}>
    ${frequentValues(facets, answeredPlain.value).map((facet) => html`<${FacetCard} key=${facet.field} facet=${facet} total=${total} />`)}
  </section>`;
}

interface FacetCardProps {
  readonly facet: FrequentValues;
  readonly total: number;
}

function FacetCard({ facet: { field, distinct, values }, total }: FacetCardProps) {
  return html`<div class="panel facet">
    <h2>
      <span>${field}</span>
      <${GroupButton} field=${field} distinct=${distinct} />
    </h2>
    <ul>
      ${values === null ? html`<${Awaited} isLate=${distinct === null} />` : null}
      ${values?.map(
        ({ value, count }, index) => html`<li key=${value} class="facet-line">
          <span class="share" style=${{ width: `${(100 * count) / total}%` }} />
          <${Value} field=${field} value=${value} isStop=${index === 0} />
          <${QuickFilters} field=${field} value=${value} />
          <span class="number" title=${`${countText(count)} events, ${shareText(count, total)}`}>${shortCount(count)}</span>
        </li>`,
      )}
    </ul>
  </div>`;
}

/** What stands in place of values that are not there yet. */
function Awaited({ isLate }: { readonly isLate: boolean }) {
  const failure = isLate ? lateFailure.value : null;
  if (failure === null) return html`<li class="dim">…</li>`;
  return html`<li class="failed" role="alert">${failure.message} <button type="button" onClick=${askLateAgain}>Try again</button></li>`;
}

interface GroupButtonProps {
  readonly field: GroupDimension;
  /** Null: not known yet. */
  readonly distinct: number | null;
}

function GroupButton({ field, distinct }: GroupButtonProps) {
  const isGrouped = explorer.value.groupBy.includes(field);
  return html`<button
    type="button"
    class="quiet small"
    aria-pressed=${isGrouped}
    aria-label=${distinct === null ? `Group by ${field}` : `${shortCount(distinct)} values: group by ${field}`}
    title=${distinct === null ? `Group by ${field}` : `Group by ${field}: ${countText(distinct)} values`}
    onClick=${() => toggleGroup(field)}
  >
    ${distinct === null ? '…' : shortCount(distinct)}
  </button>`;
}

interface QuickFiltersProps {
  readonly field: GroupDimension;
  readonly value: string;
}

/** The two most usual things of the menu, for the mouse. */
function QuickFilters({ field, value }: QuickFiltersProps) {
  const button = (text: string, side: 'filters' | 'exclude', words: string) => html`<button
    type="button"
    class="quiet small"
    tabindex="-1"
    aria-hidden="true"
    title=${`${words} ${valueOrNone(value)}`}
    onClick=${() => filterBy(side, field, value)}
  >
    ${text}
  </button>`;
  return html`<span class="quick">
    ${button('+', 'filters', 'Filter in')}${isDimension(field) ? button('−', 'exclude', 'Filter out') : null}
  </span>`;
}

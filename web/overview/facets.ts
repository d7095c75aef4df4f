import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { Failure } from '../api/client.ts';
import { keepText, keptText } from '../api/kept-text.ts';
import { answered, answeredFacets, answeredPlain, askLateAgain, eventTotal, lateFailure } from '../state/answers.ts';
import { isDimension } from '../state/conditions.ts';
import { explorer } from '../state/explorer.ts';
import type { Question } from '../state/question.ts';
import { countText, shareText, shortCount, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { moveAmongValues } from '../widgets/value-keys.ts';
import { filterBy, toggleGroup, Value } from '../widgets/value-menu.ts';
import { type FrequentValues, frequentValues } from './frequent-values.ts';
import { useMoreValues } from './more-values.ts';

const STORED_AS = 'shieldlog fields';

const storage = (): Storage => localStorage;

/** Whether the fields are folded away; the browser keeps it. */
const isFolded = signal(keptText(storage, STORED_AS) === 'folded');

function fold(): void {
  isFolded.value = !isFolded.peek();
  keepText(storage, STORED_AS, isFolded.peek() ? 'folded' : 'shown');
}

/** The most frequent values of every field, side by side, each with its share of the events. What is different stands in their place. */
export function Facets() {
  const shown = answered.value;
  const total = shown === null ? 0 : eventTotal(shown.answer);
  const facets = answeredFacets.value;
  if (shown === null || facets === null || total === 0) return null;
  if (shown.question.comparison !== null && explorer.value.comparison !== null) return null;
  return html`<section aria-label="Fields" onKeyDown=${moveAmongValues}>
    <button class="quiet small" aria-expanded=${!isFolded.value} onClick=${fold}>${isFolded.value ? '▸' : '▾'} Fields</button>
    ${
      isFolded.value
        ? null
        : html`<div class="facets">
            ${frequentValues(facets, answeredPlain.value).map(
              (facet) => html`<${FacetCard} key=${facet.field} facet=${facet} total=${total} question=${shown.question} />`,
            )}
          </div>`
    }
  </section>`;
}

interface FacetCardProps {
  readonly facet: FrequentValues;
  readonly total: number;
  readonly question: Question;
}

function FacetCard({ facet: { field, distinct, values }, total, question }: FacetCardProps) {
  const [isWhole, setWhole] = useState(false);
  const more = useMoreValues(question, field, isWhole);
  const hasMore = values !== null && distinct !== null && distinct > values.length;
  return html`<div class="panel facet">
    <h2>
      <span>${field}</span>
      ${hasMore || isWhole ? html`<${MoreButton} field=${field} isWhole=${isWhole} onChange=${setWhole} />` : null}
      <${GroupButton} field=${field} distinct=${distinct} />
    </h2>
    <ul class=${isWhole ? 'whole' : ''}>
      ${values === null ? html`<${Awaited} failure=${distinct === null ? lateFailure.value : null} retry=${askLateAgain} />` : null}
      ${(more.values ?? values)?.map(
        ({ value, count }, index) => html`<li key=${value} class="facet-line">
          <span class="share" style=${{ width: `${(100 * count) / total}%` }} />
          <${Value} field=${field} value=${value} isStop=${index === 0} />
          <${QuickFilters} field=${field} value=${value} />
          <span class="number" title=${`${countText(count)} events, ${shareText(count, total)}`}>${shortCount(count)}</span>
        </li>`,
      )}
      ${
        isWhole && more.values === null ? html`<${Awaited} failure=${more.failed?.failure ?? null} retry=${more.failed?.askAgain} />` : null
      }
    </ul>
  </div>`;
}

interface MoreButtonProps {
  readonly field: GroupDimension;
  readonly isWhole: boolean;
  readonly onChange: (isWhole: boolean) => void;
}

/** Shows as many values as one answer may have, or the first ones again. */
function MoreButton({ field, isWhole, onChange }: MoreButtonProps) {
  const word = isWhole ? 'Less' : 'More';
  return html`<button class="quiet small" aria-label=${`${word} values of ${field}`} onClick=${() => onChange(!isWhole)}>
    ${word}
  </button>`;
}

interface AwaitedProps {
  readonly failure: Failure | null;
  readonly retry: () => void;
}

/** What stands in place of values that are not there yet. */
function Awaited({ failure, retry }: AwaitedProps) {
  if (failure === null) return html`<li class="dim">…</li>`;
  return html`<li class="failed" role="alert">${failure.message} <button onClick=${retry}>Try again</button></li>`;
}

interface GroupButtonProps {
  readonly field: GroupDimension;
  /** Null: not known yet. */
  readonly distinct: number | null;
}

function GroupButton({ field, distinct }: GroupButtonProps) {
  const isGrouped = explorer.value.groupBy.includes(field);
  return html`<button
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

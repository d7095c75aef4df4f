import { queryTerms } from '../../query/query-terms.ts';
import { type Side, withoutClause, withoutTerm } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { html } from '../widgets/html.ts';

/** The conditions of the search, each with a button that removes it. */
export function Chips() {
  const { search } = explorer.value;
  const clauses = (side: Side) =>
    search[side].map(
      ({ field, op, value }, index) => html`<li class=${`chip ${side}`}>
        ${side === 'exclude' ? 'not ' : ''}${field} ${op} ${value.join(', ')}
        <button type="button" aria-label=${`Remove ${field}`} onClick=${() => apply({ search: withoutClause(search, side, index) })}>
          ✕
        </button>
      </li>`,
    );
  const terms = queryTerms(search.query).map(
    (term) => html`<li class="chip">
      ${term} <button type="button" aria-label=${`Remove ${term}`} onClick=${() => apply({ search: withoutTerm(search, term) })}>✕</button>
    </li>`,
  );
  return html`<ul class="chips" aria-label="Conditions">${terms}${clauses('filters')}${clauses('exclude')}</ul>`;
}

import { answered } from '../state/answers.ts';
import { shortCount } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Value } from '../widgets/value-menu.ts';

/** The most frequent values of every field, side by side. */
export function Facets() {
  const facets = answered.value?.answer.facets ?? [];
  return html`<section class="facets" aria-label="Fields">
    ${facets.map(
      ({ field, values }) => html`<div class="facet">
        <h2>${field}</h2>
        <ul>
          ${values.map(({ value, count }) => html`<li><${Value} field=${field} value=${value} /> ${shortCount(count)}</li>`)}
        </ul>
      </div>`,
    )}
  </section>`;
}

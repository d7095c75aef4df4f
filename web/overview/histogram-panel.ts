import { answered, failure, progress } from '../state/answers.ts';
import { countText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';

/** How many events there are, and when they were. */
export function HistogramPanel() {
  const shown = answered.value;
  const series = shown?.answer.histogram?.series ?? [];
  return html`<section class="histogram" aria-label="Events over time">
    <p role="status">
      ${progress.value.kind === 'asking' ? 'searching…' : ''} ${failure.value?.message ?? ''}
      ${shown === null ? '' : `${countText(shown.answer.total)} in ${Math.round(shown.ms)} ms`}
    </p>
    <ul>${series.map(({ value, total }) => html`<li>${value} ${countText(total)}</li>`)}</ul>
  </section>`;
}

import { useSignal } from '@preact/signals';
import { parseSearchLine } from '../../query/search-line.ts';
import { askAgain } from '../state/answers.ts';
import { bothSearches } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { zonesText } from '../state/explorer-state.ts';
import { readLink } from '../state/link.ts';
import { lastWords, PRESET_MINUTES } from '../state/time-range.ts';
import { html } from '../widgets/html.ts';
import { Chips } from './chips.ts';

/** Zones, time and conditions. */
export function SearchBar() {
  const { zones, range } = explorer.value;
  const line = useSignal('');
  const fault = useSignal<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const parsed = parseSearchLine(line.value);
    fault.value = 'fault' in parsed ? parsed.fault : null;
    if ('fault' in parsed) return;
    apply({ search: bothSearches(explorer.peek().search, parsed) });
    line.value = '';
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <label>Zones
      <input
        name="zone"
        value=${zonesText(zones)}
        onChange=${({ currentTarget }: { currentTarget: HTMLInputElement }) =>
          apply({ zones: readLink(new URLSearchParams({ zone: currentTarget.value })).state.zones })}
      />
    </label>
    <label>Time
      <select
        name="last"
        value=${range.kind === 'last' ? range.minutes : ''}
        onChange=${({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
          apply({ range: { kind: 'last', minutes: Number(currentTarget.value) } })}
      >
        ${range.kind === 'last' ? null : html`<option value="">chosen</option>`}
        ${PRESET_MINUTES.map((minutes) => html`<option value=${minutes}>${lastWords(minutes)}</option>`)}
      </select>
    </label>
    <input
      name="line"
      class="line"
      type="search"
      aria-label="Search"
      placeholder="words, or country:NL  -action:allowed  ip:10.0.0.0/8"
      value=${line.value}
      onInput=${({ currentTarget }: { currentTarget: HTMLInputElement }) => {
        line.value = currentTarget.value;
      }}
    />
    <button type="submit">Search</button>
    <button type="button" onClick=${askAgain}>Refresh</button>
    ${fault.value === null ? null : html`<p class="fault" role="alert">${fault.value}</p>`}
    <${Chips} />
  </form>`;
}

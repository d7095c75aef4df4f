import { EventsPanel } from './events/events-panel.ts';
import { GroupsPanel } from './groups/groups-panel.ts';
import { DifferencePanel } from './overview/difference-panel.ts';
import { Facets } from './overview/facets.ts';
import { HistogramPanel } from './overview/histogram-panel.ts';
import { SearchBar } from './search/search-bar.ts';
import { explorer } from './state/explorer.ts';
import { html } from './widgets/html.ts';
import { MenuHost } from './widgets/menu.ts';
import { Toasts } from './widgets/toast.ts';

/** The whole page. Each panel reads what it shows from `state/` and draws itself anew when that changes. */
export function Page() {
  const { groupBy } = explorer.value;
  return html`
    <header class="top">
      <h1>shieldlog</h1>
      <${SearchBar} />
    </header>
    <main>
      <${HistogramPanel} />
      <${DifferencePanel} />
      <${Facets} />
      ${groupBy.length === 0 ? html`<${EventsPanel} />` : html`<${GroupsPanel} />`}
    </main>
    <${MenuHost} />
    <${Toasts} />
  `;
}

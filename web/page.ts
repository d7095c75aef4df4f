import { EventsPanel } from './events/events-panel.ts';
import { GroupsPanel } from './groups/groups-panel.ts';
import { DifferencePanel } from './overview/difference-panel.ts';
import { Facets } from './overview/facets.ts';
import { HistogramPanel } from './overview/histogram-panel.ts';
import { Notices } from './search/notices.ts';
import { TopBar } from './search/top-bar.ts';
import { failure, progress } from './state/answers.ts';
import { explorer } from './state/explorer.ts';
import { html } from './widgets/html.ts';
import { MenuHost } from './widgets/menu.ts';
import { Toasts } from './widgets/toast.ts';

/** The whole page. Each panel reads what it shows from `state/` and draws itself anew when that changes. */
export function Page() {
  const { groupBy } = explorer.value;
  const { kind } = progress.value;
  const isStale = failure.value !== null || kind === 'cancelled';
  return html`
    <${TopBar} />
    <main class=${isStale ? 'stale' : ''} aria-busy=${kind === 'asking'}>
      <${Notices} />
      <${HistogramPanel} />
      <${DifferencePanel} />
      <${Facets} />
      ${groupBy.length === 0 ? html`<${EventsPanel} />` : html`<${GroupsPanel} />`}
    </main>
    <${MenuHost} />
    <${Toasts} />
  `;
}

import { AlertButton } from './alerting/alert-button.ts';
import { AlertsButton } from './alerting/alerts-button.ts';
import { DifferencePanel } from './overview/difference-panel.ts';
import { Facets } from './overview/facets.ts';
import { HistogramPanel } from './overview/histogram-panel.ts';
import { Results } from './results.ts';
import { SavedSearches } from './saved/saved-searches-button.ts';
import { Notices } from './search/notices.ts';
import { TopBar } from './search/top-bar.ts';
import { failure, progress } from './state/answers.ts';
import { html } from './widgets/html.ts';
import { MenuHost } from './widgets/menu.ts';
import { Toasts } from './widgets/toast.ts';

/** The whole page. Each panel reads what it shows from `state/` and draws itself anew when that changes. */
export function ExplorerPage() {
  const { kind } = progress.value;
  const isStale = failure.value !== null || kind === 'cancelled';
  return html`
    <${TopBar}><${SavedSearches} /><${AlertButton} /><${AlertsButton} /></${TopBar}>
    <main class=${isStale ? 'stale' : ''} aria-busy=${kind === 'asking'}>
      <${Notices} />
      <${HistogramPanel} />
      <${DifferencePanel} />
      <${Facets} />
      <${Results} />
      <${MenuHost} />
    </main>
    <${Toasts} />
  `;
}

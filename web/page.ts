import { AlertDialog } from './alerting/alert-dialog.ts';
import { AlertsDialog } from './alerting/alerts-dialog.ts';
import { DifferencePanel } from './overview/difference-panel.ts';
import { Facets } from './overview/facets.ts';
import { HistogramPanel } from './overview/histogram-panel.ts';
import { Results } from './results.ts';
import { SavedDialog } from './saved/saved-dialog.ts';
import { Notices } from './search/notices.ts';
import { TopBar } from './search/top-bar.ts';
import { failure, progress } from './state/answers.ts';
import { DialogButton } from './widgets/dialog-button.ts';
import { html } from './widgets/html.ts';
import { MenuHost } from './widgets/menu.ts';
import { Toasts } from './widgets/toast.ts';

/** The whole page. Each panel reads what it shows from `state/` and draws itself anew when that changes. */
export function ExplorerPage() {
  const { kind } = progress.value;
  const isStale = failure.value !== null || kind === 'cancelled';
  return html`
    <${TopBar}>
      <${DialogButton} title="Searches with a name (s)" shortcut="s" dialog=${SavedDialog}>Saved<//>
      <${DialogButton} title="What a rule of alerts would make of this search" dialog=${AlertDialog}>Alert on this<//>
      <${DialogButton} title="What rules of alerts told" dialog=${AlertsDialog}>Alerts<//>
    <//>
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

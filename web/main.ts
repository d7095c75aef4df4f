import { render } from 'preact';
import { startOpening } from './events/opened-event.ts';
import { startLive } from './live/live-tail.ts';
import { ExplorerPage } from './page.ts';
import { startAskingForKey } from './search/key-dialog.ts';
import { startAutoRefresh } from './state/auto-refresh.ts';
import { html } from './widgets/html.ts';
import { startKeepingFocus } from './widgets/lost-focus.ts';
import { startScheme } from './widgets/scheme-button.ts';
import { startShortcuts } from './widgets/shortcuts.ts';

startScheme();
startAskingForKey();
startAutoRefresh();
startOpening();
startLive();
startShortcuts();
startKeepingFocus();
render(html`<${ExplorerPage} />`, document.body);

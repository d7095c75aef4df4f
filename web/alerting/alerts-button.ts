import { useState } from 'preact/hooks';
import { html } from '../widgets/html.ts';
import { AlertsDialog } from './alerts-dialog.ts';

/** The button of what rules of alerts have told. */
export function AlertsButton() {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" title="What rules of alerts told" aria-haspopup="dialog" onClick=${() => setOpen(true)}>Alerts</button>
    ${isOpen ? html`<${AlertsDialog} onClose=${() => setOpen(false)} />` : null}`;
}

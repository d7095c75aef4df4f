import { useState } from 'preact/hooks';
import { html } from '../widgets/html.ts';
import { AlertDialog } from './alert-dialog.ts';

/** The button that makes a rule of alerts of the search. */
export function AlertButton() {
  const [isOpen, setOpen] = useState(false);
  return html`<button
      type="button"
      title="What a rule of alerts would make of this search"
      aria-haspopup="dialog"
      onClick=${() => setOpen(true)}
    >
      Alert on this
    </button>
    ${isOpen ? html`<${AlertDialog} onClose=${() => setOpen(false)} />` : null}`;
}

import type { FunctionComponent } from 'preact';
import { useState } from 'preact/hooks';
import { html } from './html.ts';

interface DialogButtonProps {
  readonly title: string;
  /** The key that opens it; see `shortcuts.ts`. */
  readonly shortcut?: string;
  /** What is shown while it is open. */
  readonly dialog: FunctionComponent<{ readonly onClose: () => void }>;
  /** The text of the button. */
  readonly children: string;
}

/** A button that opens a dialog. */
export function DialogButton({ title, shortcut, dialog, children }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return html`<button title=${title} data-shortcut=${shortcut} aria-haspopup="dialog" onClick=${() => setOpen(true)}>${children}</button>
    ${isOpen ? html`<${dialog} onClose=${() => setOpen(false)} />` : null}`;
}

import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Children, html } from './html.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly class?: string;
  readonly children: Children;
}

/** A dialog that is open as long as it is drawn. Escape, its button and a click beside it close it; the focus goes back by itself. */
export function Dialog({ title, onClose, class: className = '', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before the next key, which is typed into the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const besides = (event: MouseEvent): void => {
    if (event.target === dialog.current) onClose();
  };
  const cancelled = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog class=${`dialog ${className}`} ref=${dialog} aria-labelledby=${titleId} onCancel=${cancelled} onClick=${besides}>
    <div class="dialog-body">
      <div class="dialog-head">
        <h2 id=${titleId}>${title}</h2>
        <button class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
      </div>
      ${children}
    </div>
  </dialog>`;
}

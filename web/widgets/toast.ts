import { signal } from '@preact/signals';
import { lastChange, undo } from '../state/explorer.ts';
import { html } from './html.ts';

const SHOWN_MS = 8_000;

const message = signal<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a sentence for a while. */
export function say(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => {
    message.value = null;
  }, SHOWN_MS);
}

/** The last change with a button that takes it back, and what else the page has to say. Screen readers read it aloud. */
export function Toasts() {
  const change = lastChange.value;
  return html`<div class="toasts" role="status">
    ${
      change === null
        ? null
        : html`<p class="toast">
            <span class="toast-text">${change.words}</span>
            <button type="button" onClick=${undo}>Undo</button>
          </p>`
    }
    ${message.value === null ? null : html`<p class="toast">${message.value}</p>`}
  </div>`;
}

import { signal } from '@preact/signals';
import { lastChange, undo } from '../state/explorer.ts';
import { html } from './html.ts';

const SHOWN_MS = 8_000;

interface Message {
  readonly text: string;
  readonly number: number;
}

const message = signal<Message | null>(null);
let said = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a sentence for a while. */
export function say(text: string): void {
  clearTimeout(timer);
  said += 1;
  message.value = { text, number: said };
  timer = setTimeout(() => {
    message.value = null;
  }, SHOWN_MS);
}

/**
 * The last change with a button that takes it back, and what else the page has to say. Screen readers read aloud what is new in it: each
 * sentence is an element of its own, so that one that is said twice is heard twice.
 */
export function Toasts() {
  const change = lastChange.value;
  return html`<div class="toasts" role="status">
    ${
      change === null
        ? null
        : html`<p class="toast">
            <span class="toast-text">${change.words}</span>
            <button onClick=${undo}>Undo</button>
          </p>`
    }
    ${message.value === null ? null : html`<p key=${message.value.number} class="toast">${message.value.text}</p>`}
  </div>`;
}

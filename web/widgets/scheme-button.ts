import { effect, signal } from '@preact/signals';
import { keepText, keptText } from '../api/kept-text.ts';
import { html } from './html.ts';

const SCHEMES = ['auto', 'light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

const STORED_AS = 'shieldlog colour scheme';

const storage = (): Storage => localStorage;

/** Light, dark, or as the system has it. */
const scheme = signal<Scheme>(SCHEMES.find((one) => one === keptText(storage, STORED_AS)) ?? 'auto');

/** Keeps the document in the scheme that is chosen. */
export function startScheme(): void {
  effect(() => {
    keepText(storage, STORED_AS, scheme.value);
    if (scheme.value === 'auto') delete document.documentElement.dataset['scheme'];
    else document.documentElement.dataset['scheme'] = scheme.value;
  });
}

const SIGNS: Readonly<Record<Scheme, string>> = { auto: '◐', light: '☀', dark: '☾' };

export function SchemeButton() {
  const next = (): void => {
    scheme.value = SCHEMES[(SCHEMES.indexOf(scheme.peek()) + 1) % SCHEMES.length] ?? 'auto';
  };
  const words = `Colours: ${scheme.value}`;
  return html`<button class="quiet" aria-label=${words} title=${words} onClick=${next}>${SIGNS[scheme.value]}</button>`;
}

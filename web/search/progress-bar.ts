import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { cancel, progress } from '../state/answers.ts';
import { html } from '../widgets/html.ts';

/** Searches that are done sooner show no more than the line at the top. */
const PATIENCE_MS = 700;

/** A line that runs while the program searches; after a moment how long it has, and a button that gives up. */
export function ProgressBar() {
  const state = progress.value;
  return state.kind === 'asking' ? html`<${Asking} key=${state.since} since=${state.since} />` : null;
}

interface AskingProps {
  readonly since: number;
}

function Asking({ since }: AskingProps) {
  const waited = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      waited.value = performance.now() - since;
    }, 100);
    return () => clearInterval(timer);
  }, [since]);
  return html`<div class="progress" />
    ${
      waited.value < PATIENCE_MS
        ? null
        : html`<p class="waiting" role="status">
            <span aria-hidden="true">Searching for ${(waited.value / 1000).toFixed(1)} s</span>
            <span class="spoken">Searching</span>
            <button onClick=${cancel}>Cancel</button>
          </p>`
    }`;
}

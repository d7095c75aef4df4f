import { useEffect } from 'preact/hooks';
import type { Failure } from '../api/client.ts';
import { answered, askAgain, eventsOf, failure, progress } from '../state/answers.ts';
import { apply, explorer, ignoredOfLink } from '../state/explorer.ts';
import { html } from '../widgets/html.ts';
import { EmptyNotice } from './empty-notice.ts';

/** How long a lost connection is left alone before the page tries again. */
const RETRY_MS = 3_000;

/** What stands in the way of an answer, and what can be done about it. */
export function Notices() {
  const shown = answered.value;
  const { kind } = progress.value;
  if (failure.value !== null && kind !== 'cancelled') return html`<${LinkNotice} /><${FailureNotice} failure=${failure.value} />`;
  if (kind === 'cancelled') {
    return html`<div class="panel notice" role="status">
      <p>The search was given up${shown === null ? '' : '; what is shown is the answer before it'}.</p>
      <button type="button" onClick=${askAgain}>Search again</button>
    </div>`;
  }
  const isEmpty = kind === 'idle' && shown !== null && eventsOf(shown.answer) === 0;
  return html`<${LinkNotice} />${isEmpty ? html`<${EmptyNotice} />` : null}`;
}

function LinkNotice() {
  const ignored = ignoredOfLink.value;
  if (ignored.length === 0) return null;
  const dismiss = (): void => {
    ignoredOfLink.value = [];
  };
  return html`<div class="panel notice" role="status">
    <p>Not taken from the link: ${ignored.join(', ')}</p>
    <button type="button" onClick=${dismiss}>Dismiss</button>
  </div>`;
}

interface FailureNoticeProps {
  readonly failure: Failure;
}

function FailureNotice({ failure: { key, status, message, faults } }: FailureNoticeProps) {
  const isLost = key === 'connection.lost';
  useEffect(() => {
    if (!isLost) return;
    const timer = setTimeout(askAgain, RETRY_MS);
    addEventListener('online', askAgain);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', askAgain);
    };
  }, [isLost, progress.value]);
  return html`<div class="panel notice failed" role="alert">
    <div>
      <p>${TITLES[key] ?? TITLES[String(status)] ?? 'The search failed'}: ${message}</p>
      ${faults.length < 2 ? null : html`<ul>${faults.map((fault) => html`<li><code>${fault.field}</code> ${fault.message}</li>`)}</ul>`}
      ${isLost ? html`<p class="dim">The page tries again every ${RETRY_MS / 1000} s.</p>` : null}
    </div>
    <button type="button" onClick=${askAgain}>Try again</button>
    <${WayOut} failureKey=${key} />
  </div>`;
}

const TITLES: Readonly<Record<string, string>> = {
  'connection.lost': 'No connection',
  'search.deadline': 'The search took too long',
  'store.busy': 'The program is busy',
  'program.stopping': 'The program is stopping',
  'access.zone_denied': 'Not with this key',
  '400': 'This cannot be searched',
  '401': 'An access key is needed',
};

interface WayOutProps {
  readonly failureKey: string;
}

/** A step that may help, where there is one. */
function WayOut({ failureKey }: WayOutProps) {
  const { range, zones } = explorer.value;
  if (failureKey === 'search.deadline' && !(range.kind === 'last' && range.minutes <= 60)) {
    const narrow = (): void => apply({ range: { kind: 'last', minutes: 60 }, comparison: null });
    return html`<button type="button" onClick=${narrow}>Last hour only</button>`;
  }
  if (failureKey === 'access.zone_denied' && zones !== 'all') {
    return html`<button type="button" onClick=${() => apply({ zones: 'all' })}>All zones of the key</button>`;
  }
  return null;
}

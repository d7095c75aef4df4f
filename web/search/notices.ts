import { useEffect } from 'preact/hooks';
import type { Failure } from '../api/client.ts';
import { programNow } from '../api/program-clock.ts';
import { answered, askAgain, eventTotal, failure as lastFailure, progress } from '../state/answers.ts';
import { withoutClause } from '../state/conditions.ts';
import { apply, explorer, ignoredOfLink } from '../state/explorer.ts';
import { DEFAULT_STATE } from '../state/explorer-state.ts';
import { searchablePart } from '../state/time-range.ts';
import { html } from '../widgets/html.ts';
import { clauseWords } from './chips.ts';
import { EmptyNotice } from './empty-notice.ts';
import { rangeWords, timeFault } from './time-picker.ts';

/** How long a lost connection is left alone before the page tries again. */
const RETRY_MS = 3_000;

/** What stands in the way of an answer, and what can be done about it. */
export function Notices() {
  const shown = answered.value;
  const { kind } = progress.value;
  const failure = lastFailure.value;
  if (failure !== null && kind !== 'cancelled') return html`<${LinkNotice} /><${FailureNotice} failure=${failure} />`;
  if (kind === 'cancelled') {
    return html`<div class="panel notice" role="status">
      <p>The search was given up${shown === null ? '' : '; what is shown is the answer before it'}.</p>
      <button onClick=${askAgain}>Search again</button>
    </div>`;
  }
  const isEmpty = kind === 'idle' && shown !== null && eventTotal(shown.answer) === 0;
  return html`<${LinkNotice} />
    ${shown === null ? null : html`<${IncompleteNotice} unreadable=${shown.answer.unreadable} />`}
    ${isEmpty ? html`<${EmptyNotice} />` : null}`;
}

function IncompleteNotice({ unreadable }: { readonly unreadable: number }) {
  if (unreadable === 0) return null;
  return html`<div class="panel notice failed" role="alert">
    <p>Not everything is shown: up to ${unreadable} events cannot be read, because files of the program are damaged or missing</p>
  </div>`;
}

/** Parameters of a link that are named when they are not understood. */
const MOST_IGNORED = 10;

function LinkNotice() {
  const ignored = ignoredOfLink.value;
  if (ignored.length === 0) return null;
  const dismiss = (): void => {
    ignoredOfLink.value = [];
  };
  return html`<div class="panel notice" role="status">
    <p>
      Not taken from the link: ${ignored.slice(0, MOST_IGNORED).join(', ')}
      ${ignored.length > MOST_IGNORED ? ` and ${ignored.length - MOST_IGNORED} more` : ''}
    </p>
    <button onClick=${dismiss}>Dismiss</button>
  </div>`;
}

interface FailureNoticeProps {
  readonly failure: Failure;
}

function FailureNotice({ failure }: FailureNoticeProps) {
  const { key, status, message, faults } = failure;
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
      <p>${TITLES[key] ?? TITLES[String(status)] ?? 'The search failed'}: ${timeFault() ?? message}</p>
      ${faults.length < 2 ? null : html`<ul>${faults.map((fault) => html`<li><code>${fault.field}</code> ${fault.message}</li>`)}</ul>`}
      ${isLost ? html`<p class="dim">The page tries again every ${RETRY_MS / 1000} s.</p>` : null}
    </div>
    <button onClick=${askAgain}>Try again</button>
    <${WayOut} failure=${failure} />
  </div>`;
}

const TITLES: Readonly<Record<string, string>> = {
  'connection.lost': 'No connection',
  'search.deadline': 'The search took too long',
  'caller.busy': 'Too many requests with this key wait',
  'store.busy': 'The program is busy',
  'store.unavailable': 'The store cannot be reached',
  'program.stopping': 'The program is stopping',
  'access.zone_denied': 'Not with this key',
  '400': 'This cannot be searched',
  '401': 'An access key is needed',
};

interface WayOutProps {
  readonly failure: Failure;
}

/** A step that may help, where there is one. */
function WayOut({ failure: { key: failureKey, faults } }: WayOutProps) {
  const { range, zones, search } = explorer.value;
  const [, side, index] = /^(filters|exclude)\[(\d+)\]/.exec(faults[0]?.field ?? '') ?? [];
  if (side === 'filters' || side === 'exclude') {
    const clause = search[side][Number(index)];
    if (clause === undefined) return null;
    return html`<button onClick=${() => apply({ search: withoutClause(search, side, Number(index)) })}>
      Without <span class="code">${clauseWords(side, clause)}</span>
    </button>`;
  }
  if (faults.some(({ field }) => field.startsWith('selection'))) {
    return html`<button onClick=${() => apply({ comparison: null })}>Stop comparing</button>`;
  }
  if (faults.some(({ field }) => field === 'from' || field === 'to')) {
    const part = searchablePart(range, programNow());
    const narrow = (): void => apply({ range: part ?? range });
    return html`${part === null ? null : html`<button onClick=${narrow}>What of it can be searched</button>`}
      <button onClick=${() => apply({ range: DEFAULT_STATE.range, comparison: null })}>
      The ${rangeWords(DEFAULT_STATE.range, 'utc')}
    </button>`;
  }
  if (failureKey === 'search.deadline' && !(range.kind === 'last' && range.minutes <= 60)) {
    const narrow = (): void => apply({ range: { kind: 'last', minutes: 60 }, comparison: null });
    return html`<button onClick=${narrow}>Last hour only</button>`;
  }
  if (failureKey === 'access.zone_denied' && zones !== 'all') {
    return html`<button onClick=${() => apply({ zones: 'all' })}>All zones of the key</button>`;
  }
  return null;
}

import { useEffect, useState } from 'preact/hooks';
import { accessKey } from '../api/access-key.ts';
import { askUpToNow, type Failure, RequestFailed } from '../api/client.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { explorer } from '../state/explorer.ts';
import { millisecondTime } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { filterBy } from '../widgets/value-menu.ts';
import { openEvent } from './opened-event.ts';
import { type Surroundings, surroundingsOf } from './surroundings.ts';

type Progress =
  | { readonly kind: 'asking' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'found'; readonly found: Surroundings };

/** What the address of an event did before and after it. */
export function SurroundingEvents({ row, ip }: { readonly row: ParsedRow; readonly ip: string }) {
  const [progress, setProgress] = useState<Progress>({ kind: 'asking' });
  const [turn, setTurn] = useState(0);
  const key = rowKey(row);
  useEffect(() => {
    const abort = new AbortController();
    setProgress({ kind: 'asking' });
    askUpToNow(
      (now) => now,
      (now) => surroundingsOf(row, ip, now, abort.signal),
    ).then(
      (found) => abort.signal.aborted || setProgress({ kind: 'found', found }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (!(error instanceof RequestFailed)) throw error;
        setProgress({ kind: 'failed', failure: error.failure });
      },
    );
    return () => abort.abort();
  }, [key, ip, turn, accessKey.value]);

  if (progress.kind === 'asking') return html`<p class="hint" role="status">Looking for events of ${ip}…</p>`;
  if (progress.kind === 'failed') {
    return html`<p class="failed" role="alert">
      ${progress.failure.message} <button type="button" onClick=${() => setTurn(turn + 1)}>Try again</button>
    </p>`;
  }
  const { rows, moreNewer, moreOlder } = progress.found;
  return html`<p class="hint">Newest first. ${rows.length === 1 ? 'It has no other event.' : ''}</p>
    ${moreNewer ? html`<p class="hint">… newer ones</p>` : null}
    <ol class="surroundings">
      ${rows.map((other) => html`<${SurroundingLine} key=${rowKey(other)} row=${other} isThis=${rowKey(other) === key} />`)}
    </ol>
    ${moreOlder ? html`<p class="hint">… older ones</p>` : null}
    <button type="button" onClick=${() => filterBy('filters', 'ip', ip)}>All events of ${ip}</button>`;
}

function SurroundingLine({ row, isThis }: { readonly row: ParsedRow; readonly isThis: boolean }) {
  const { action, url, ruleId, ruleName } = row.fields;
  const time = millisecondTime(row.timestamp, explorer.value.clock);
  const what = [action, ruleName ?? ruleId, url].filter((text) => text !== undefined);
  return html`<li aria-current=${isThis ? 'true' : undefined}>
    <button type="button" class="line" disabled=${isThis} onClick=${() => openEvent(row)}>
      <span class="time">${time}</span> ${what.map((text) => html`<bdi>${text}</bdi> `)}
    </button>
  </li>`;
}

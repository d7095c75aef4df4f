import { askUpToNow } from '../api/client.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { explorer } from '../state/explorer.ts';
import { useFurtherAnswer } from '../state/further-answer.ts';
import { Failed } from '../widgets/failed.ts';
import { millisecondTime } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { filterBy } from '../widgets/value-menu.ts';
import { openEvent } from './opened-event.ts';
import { surroundingsOf } from './surroundings.ts';

/** What the address of an event did before and after it. */
export function SurroundingEvents({ row, ip }: { readonly row: ParsedRow; readonly ip: string }) {
  const key = rowKey(row);
  const answer = useFurtherAnswer(`${key} ${ip}`, (signal) =>
    askUpToNow(
      (now) => now,
      (now) => surroundingsOf(row, ip, now, signal),
    ),
  );
  if (answer.kind === 'asking') return html`<p class="hint" role="status">Looking for events of ${ip}…</p>`;
  if (answer.kind === 'failed') {
    return html`<${Failed} ...${answer} />`;
  }
  const { rows, moreNewer, moreOlder } = answer.found;
  return html`<p class="hint">Newest first. ${rows.length === 1 ? 'It has no other event.' : ''}</p>
    ${moreNewer ? html`<p class="hint">… newer ones</p>` : null}
    <ol class="surroundings">
      ${rows.map((other) => html`<${SurroundingLine} key=${rowKey(other)} row=${other} isThis=${rowKey(other) === key} />`)}
    </ol>
    ${moreOlder ? html`<p class="hint">… older ones</p>` : null}
    <button onClick=${() => filterBy('filters', 'ip', ip)}>All events of ${ip}</button>`;
}

function SurroundingLine({ row, isThis }: { readonly row: ParsedRow; readonly isThis: boolean }) {
  const { action, url, ruleId, ruleName } = row.fields;
  const time = millisecondTime(row.timestamp, explorer.value.clock);
  const what = [action, ruleName ?? ruleId, url].filter((text) => text !== undefined);
  return html`<li aria-current=${isThis ? 'true' : undefined}>
    <button class="line" disabled=${isThis} onClick=${() => openEvent(row)}>
      <span class="time">${time}</span> ${what.map((text) => html`<bdi>${text}</bdi> `)}
    </button>
  </li>`;
}

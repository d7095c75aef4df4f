import { useLayoutEffect, useState } from 'preact/hooks';
import { type Failure, RequestFailed } from '../api/client.ts';
import type { ParsedRow } from '../api/parsed-row.ts';
import { answered } from '../state/answers.ts';
import { explorer } from '../state/explorer.ts';
import { hasNext, itemAt, lineCount } from '../table/loaded-pages.ts';
import { mostLines } from '../table/virtual-scroll.ts';
import { linePx, VirtualTable } from '../table/virtual-table.ts';
import { Failed } from '../widgets/failed.ts';
import { countText, numberOf, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { shownColumns } from './column-choice.ts';
import { eventTableColumns } from './column-layout.ts';
import { failure, goBack, goOn, hasEarlier, loaded, retry, startEvents, turn, want } from './event-pages.ts';
import { enterEvent, isOpen, openEvent } from './opened-event.ts';

/** The events that are found, newest first. */
export function EventsPanel() {
  const now = answered.value;
  useLayoutEffect(() => {
    if (now !== null && now.answer.rows !== null) startEvents(now);
  }, [now]);
  const pages = loaded.value;
  const { clock } = explorer.value;
  const most = mostLines(linePx());
  const count = pages === null ? 0 : lineCount(pages, most);
  return html`${
    pages !== null && pages.total === 0
      ? html`<${NothingFound} />`
      : html`<${VirtualTable}
            label="Events, newest first"
            columns=${eventTableColumns(shownColumns(), clock)}
            count=${count}
            itemAt=${(line: number) => (pages === null ? undefined : itemAt(pages, line))}
            contents=${String(turn.value)}
            isCurrent=${isOpen}
            onView=${want}
            onOpen=${(row: ParsedRow) => enterEvent(row)}
            onMove=${(row: ParsedRow) => explorer.peek().event !== null && openEvent(row)}
          />`
  }
    <${FailedPage} failure=${failure.value} onRetry=${retry} />
    <${TableFoot} most=${most} count=${count} />`;
}

/** Why lines of a table did not come, with a button that asks again. */
export function FailedPage({ failure: why, onRetry }: { readonly failure: Failure | null; readonly onRetry: () => void }) {
  if (why === null) return null;
  return html`<${Failed} what="More lines could not be loaded:" failure=${why} askAgain=${onRetry} />`;
}

/** What a search without a result looks like. Why there is none, and what to do, stands above in the notice. */
export function NothingFound() {
  return html`<p class="empty">No events</p>`;
}

/** How many events the table has; `of` them are left from its first one on, null where that is all of them. */
function stretchWords(count: number, of: number | null): string {
  const further = hasEarlier.value ? 'further ' : '';
  if (of === null) return numberOf(count, `${further}event`);
  return `The ${further === '' ? 'newest' : 'next'} ${countText(count)} of ${countText(of)} ${further}events`;
}

/** Which part of the events the table has, and the way to the others. */
function TableFoot({ most, count }: { readonly most: number; readonly count: number }) {
  const pages = loaded.value;
  const [failed, setFailed] = useState<string | null>(null);
  if (pages === null || pages.total === null || count === 0) return null;
  const last = itemAt(pages, count - 1);
  const goes = hasNext(pages, most);
  const { clock } = explorer.value;
  const older = async (): Promise<void> => {
    setFailed(null);
    try {
      await goOn(most, new AbortController().signal);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailed(error.failure.message);
    }
  };
  const reaches =
    last === undefined
      ? ''
      : goes
        ? `, down to ${timeText(last.timestamp, clock)}`
        : `; the oldest is of ${timeText(last.timestamp, clock)}`;
  return html`<div class="table-foot">
    <span>${stretchWords(count, goes ? pages.total - pages.stretch.skip : null)}${reaches}</span>
    ${hasEarlier.value ? html`<button onClick=${goBack}>Newer events</button>` : null}
    ${goes ? html`<button disabled=${last === undefined} onClick=${() => void older()}>Older events</button>` : null}
    ${failed === null ? null : html`<span class="failed" role="alert">${failed}</span>`}
  </div>`;
}

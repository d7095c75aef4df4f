import type { ParsedRow } from '../api/parsed-row.ts';
import { shownColumns } from '../events/column-choice.ts';
import { eventTableColumns } from '../events/column-layout.ts';
import { enterEvent, isOpen, openEvent } from '../events/opened-event.ts';
import { apply, explorer } from '../state/explorer.ts';
import { DEFAULT_STATE } from '../state/explorer-state.ts';
import { VirtualTable } from '../table/virtual-table.ts';
import { timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { listWords, unwatchedWords } from './live-list.ts';
import { clear, liveList, liveNews, liveRate, pause, tailState, watchAgain } from './live-tail.ts';
import type { TailState } from './watch-tail.ts';

/** Events as they come in. */
export function LivePanel() {
  const list = liveList.value;
  const { clock } = explorer.value;
  return html`<div class="table-bar">
      <button aria-pressed=${list.isPaused} onClick=${() => pause(!list.isPaused)}>Pause</button>
      <button onClick=${clear}>Clear</button>
      <${LiveStatus} />
    </div>
    <${VirtualTable}
      label="Live events, newest first"
      columns=${eventTableColumns(shownColumns(), clock)}
      count=${list.shown.length}
      itemAt=${(line: number) => list.shown[line]}
      contents="live"
      moved=${list.moved}
      isCurrent=${isOpen}
      onView=${() => {}}
      onOpen=${(row: ParsedRow) => [pause(true), enterEvent(row)]}
      onMove=${(row: ParsedRow) => explorer.peek().event !== null && openEvent(row)}
    />`;
}

/** Switches between the events of a time and those that come in. */
export function LiveSwitch() {
  const { isLive } = explorer.value;
  const change = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    // Nothing comes into a time that has ended.
    const { range } = explorer.peek();
    apply({ isLive: !isLive, range: isLive || range.kind === 'last' ? range : DEFAULT_STATE.range });
    // The key works from everywhere on the page, and the table may be below the window.
    const { top, bottom } = currentTarget.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) currentTarget.scrollIntoView();
  };
  return html`<button
    title="Events as they come in (l)"
    data-shortcut="l"
    aria-pressed=${isLive}
    onClick=${change}
  >
    Live
  </button>`;
}

const WORDS: Readonly<Record<TailState['kind'], string>> = {
  connecting: 'Connecting',
  queued: 'Four other tabs are live, as many as this browser has connections for; this one waits for one of them',
  watching: 'Watching',
  hidden: 'Nothing is watched while the tab is hidden',
  lost: 'The connection is lost and will be opened again',
  expired: 'The tail does not go on where it was',
  refused: 'The program has refused the live tail',
};

/** With a digit behind the point where there are few. */
function rateText(rate: number): string {
  return rate.toLocaleString('en', { maximumFractionDigits: rate < 10 ? 1 : 0 });
}

function LiveStatus() {
  const { kind, detail } = tailState.value;
  const { clock } = explorer.value;
  const isBad = kind !== 'watching' && kind !== 'connecting';
  const unwatched = unwatchedWords(liveList.value, (ms) => timeText(ms, clock));
  const words = detail === '' ? WORDS[kind] : `${WORDS[kind]}: ${detail}`;
  // How many events there are changes all the time: read aloud each time, it would leave no room for anything else.
  return html`<span>
    <span role="status" class=${isBad ? 'failed' : ''}>${words}${unwatched}</span>; ${listWords(liveList.value)};
    ${' '}${rateText(liveRate.value)} a second
    <span class="spoken" aria-live="polite">${liveNews.value}</span>
    ${kind === 'refused' ? html` <button onClick=${watchAgain}>Try again</button>` : null}
  </span>`;
}

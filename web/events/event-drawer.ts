import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { REACH_HOURS } from '../../query/search-limits.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { programNow } from '../api/program-clock.ts';
import { apply, explorer } from '../state/explorer.ts';
import type { EventKey } from '../state/explorer-state.ts';
import { OFFERED_COLUMNS, type OfferedColumn } from '../state/offered-columns.ts';
import { ruleNameOf } from '../state/rule-names.ts';
import { fixedLink } from '../state/shared-link.ts';
import { rangeAround } from '../state/time-range.ts';
import { Failed } from '../widgets/failed.ts';
import { millisecondTime, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { copy, Value } from '../widgets/value-menu.ts';
import { columnTitle } from './column-layout.ts';
import type { Neighbours } from './event-pages.ts';
import { LogTree } from './log-tree.ts';
import { closeEvent, focusWish, openEvent, opened, reloadEvent } from './opened-event.ts';
import { useSpaceForEvent } from './space-for-event.ts';
import { SurroundingEvents } from './surrounding-events.ts';
import { ticketText } from './ticket-text.ts';

/** The open event beside the table, which can still be used. Escape closes it, and the focus goes back to where it was. */
export function EventDrawer(props: DrawerProps) {
  const event = opened.value;
  return event.kind === 'none' ? null : html`<${OpenDrawer} ...${props} />`;
}

interface DrawerProps {
  /** The events beside one in the table that is shown, by its `rowKey`. */
  readonly neighboursOf: (key: string) => Neighbours;
}

function OpenDrawer({ neighboursOf }: DrawerProps) {
  const event = opened.value;
  const drawer = useRef<HTMLDivElement>(null);
  const cameFrom = useRef<Element | null>(null);
  useSpaceForEvent();
  // Both before the next key: it would move the focus on, which would be taken for where it came from, or be an Escape that closes nothing.
  useLayoutEffect(() => {
    cameFrom.current ??= document.activeElement;
    if (focusWish.value > 0) drawer.current?.focus();
  }, [focusWish.value]);
  useLayoutEffect(() => {
    const escaped = ({ key, defaultPrevented }: KeyboardEvent): void => {
      // An open menu or dialog is closed first.
      if (key === 'Escape' && !defaultPrevented && document.querySelector('dialog[open], [popover]:popover-open') === null) closeEvent();
    };
    // On a small screen the page is behind it, where nobody sees what has the focus.
    const focused = ({ target }: FocusEvent): void => {
      const element = drawer.current;
      if (element === null || element.offsetWidth < document.documentElement.clientWidth || !(target instanceof Element)) return;
      if (!element.contains(target) && target.closest('dialog, [popover], .toasts') === null) element.focus({ preventScroll: true });
    };
    addEventListener('keydown', escaped);
    addEventListener('focusin', focused);
    return () => {
      removeEventListener('keydown', escaped);
      removeEventListener('focusin', focused);
      const isLost = document.activeElement === document.body || drawer.current?.contains(document.activeElement) === true;
      const origin = cameFrom.current;
      if (isLost && origin instanceof HTMLElement) queueMicrotask(() => origin.focus({ preventScroll: true }));
    };
  }, []);
  return html`<div class="drawer" data-held role="dialog" aria-label="Event" tabindex="-1" ref=${drawer}>
    ${event.kind === 'shown' ? html`<${ShownEvent} row=${event.row} neighboursOf=${neighboursOf} />` : html`<${MissingEvent} />`}
  </div>`;
}

function DrawerHead({ children }: { readonly children?: ComponentChild }) {
  return html`<header class="drawer-head">
    <h2>Event</h2>
    ${children}
    <button class="quiet" aria-label="Close the event" title="Close (Esc)" onClick=${closeEvent}>✕</button>
  </header>`;
}

/** What is said in place of an event that is not there. */
function MissingEvent() {
  const event = opened.value;
  if (event.kind === 'none' || event.kind === 'shown') return null;
  const words = ({ zone, logId }: EventKey) => html`<bdi>${logId}</bdi> of zone ${zone}`;
  const what = words(event.key);
  if (event.kind === 'loading') return html`<${DrawerHead} /><p role="status">Looking for ${what}…</p>`;
  if (event.kind === 'gone') {
    const reach = `Searches reach ${REACH_HOURS} hours back, and end now.`;
    return html`<${DrawerHead} /><p role="status">There is no event ${what} any more, or not yet. ${reach}</p>`;
  }
  return html`<${DrawerHead} />
    <${Failed} failure=${event.failure} askAgain=${reloadEvent} />`;
}

/** The event as a line of NDJSON, its log byte for byte. */
function rowText({ logId, timestamp, logText, fields, shieldZoneId }: ParsedRow): string {
  const text = JSON.stringify({ logId, timestamp, fields, shieldZoneId });
  return `${text.slice(0, -1)},"log":${logText}}`;
}

function ticketOf(row: ParsedRow): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return ticketText(row, { clock: explorer.peek().clock, timeZone, ruleName: ruleNameOf(row.fields['ruleId'] ?? ''), link: fixedLink() });
}

interface ShownProps extends DrawerProps {
  readonly row: ParsedRow;
}

/** Buttons to the events beside one in the table, as the table is by now. */
function Steps({ row, neighboursOf }: ShownProps) {
  const { newer, older } = neighboursOf(rowKey(row));
  const step = (to: ParsedRow | undefined, mark: string, label: string) => html`<button
    class="quiet"
    aria-label=${label}
    title=${label}
    aria-disabled=${to === undefined}
    onClick=${() => to !== undefined && openEvent(to)}
  >
    ${mark}
  </button>`;
  return html`${step(newer, '↑', 'Newer event')} ${step(older, '↓', 'Older event')}`;
}

function ShownEvent({ row, neighboursOf }: ShownProps) {
  const { clock } = explorer.value;
  const { ip } = row.fields;
  // What belongs to one event is made anew for the next one. Its head is not, so that a button that was pressed can be pressed again.
  const key = rowKey(row);
  return html`<${DrawerHead}>
      <${Steps} row=${row} neighboursOf=${neighboursOf} />
      <button
        title="As text: what, when, rule, address, link (c)"
        data-shortcut="c"
        onClick=${() => void copy(ticketOf(row))}
      >
        Copy for a ticket
      </button>
      <button onClick=${() => void copy(rowText(row))}>Copy event</button>
    </${DrawerHead}>
    <dl class="fields">
      <div>
        <dt>Time</dt>
        <dd>
          ${millisecondTime(row.timestamp, clock)} ${clock === 'utc' ? 'UTC' : 'local'}
          <small>${new Date(row.timestamp).toISOString()} · ${row.timestamp}</small>
          <button class="small" onClick=${() => searchAround(row)}>15 minutes around this event</button>
        </dd>
      </div>
      <div><dt>Log id</dt><dd><bdi>${row.logId}</bdi></dd></div>
      <div><dt>Zone</dt><dd><${Value} field="shieldZoneId" value=${String(row.shieldZoneId)} /></dd></div>
      ${FIELDS.map((field) => html`<${FieldLine} key=${field} field=${field} value=${row.fields[field]} />`)}
    </dl>
    <section aria-label="Log of the event">
      <h3>Log <button onClick=${() => void copy(row.logText)}>Copy JSON</button></h3>
      <${LogTree} key=${key} log=${row.logText} />
    </section>
    ${
      ip === undefined || ip === ''
        ? null
        : html`<section aria-label="Around it">
            <h3>Around it: events of <bdi>${ip}</bdi></h3>
            <${SurroundingEvents} key=${key} row=${row} ip=${ip} />
          </section>`
    }`;
}

function searchAround({ timestamp }: ParsedRow): void {
  apply({ range: rangeAround(timestamp, programNow()), comparison: null });
}

type FieldColumn = Exclude<OfferedColumn, 'time' | 'shieldZoneId' | 'logId'>;

const FIELDS = OFFERED_COLUMNS.filter((column): column is FieldColumn => !['time', 'shieldZoneId', 'logId'].includes(column));

function FieldLine({ field, value }: { readonly field: FieldColumn; readonly value: string | undefined }) {
  const dimension = DIMENSIONS.find((name) => name === field);
  return html`<div>
    <dt>${columnTitle(field)}</dt>
    <dd>
      ${
        dimension === undefined
          ? html`<bdi>${value ?? '(none)'}</bdi>`
          : html`<${Value} field=${dimension} value=${value ?? ''}>${valueOrNone(value ?? '')}<//>`
      }
    </dd>
  </div>`;
}

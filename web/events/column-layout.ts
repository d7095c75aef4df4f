import type { ParsedRow } from '../api/parsed-row.ts';
import { programNow } from '../api/program-clock.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import type { OfferedColumn } from '../state/offered-columns.ts';
import { REACH_MS } from '../state/time-range.ts';
import type { TableColumn } from '../table/virtual-table.ts';
import { millisecondTime } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { aheadOfUtc } from '../widgets/wall-clock.ts';

/** What a column is called, its least width, and its share of what is left over. */
const LAYOUT: Readonly<Record<OfferedColumn, readonly [title: string, leastRem: number, grow: number]>> = {
  time: ['Time', 14, 0],
  shieldZoneId: ['Zone', 5, 0],
  action: ['Action', 7.5, 0],
  feature: ['Feature', 10, 0],
  ruleId: ['Rule', 8, 0.3],
  ruleName: ['Rule name', 11, 1],
  ip: ['IP', 11, 0.5],
  country: ['Country', 5.5, 0],
  asn: ['AS', 6, 0],
  ja4: ['JA4', 9, 1],
  url: ['URL', 13, 3],
  ua: ['User agent', 13, 2],
  logId: ['Log id', 9, 1],
};

export function columnTitle(column: OfferedColumn): string {
  return LAYOUT[column][0];
}

/** The width of the offsets that times have in a table, in the font size of the page: none where no time of a search is there twice. */
export function offsetRem(clock: ExplorerState['clock']): number {
  const now = programNow();
  return aheadOfUtc(now - REACH_MS, clock) > aheadOfUtc(now, clock) ? 4 : 0;
}

/** The columns of a table of events. */
export function eventTableColumns(columns: readonly OfferedColumn[], clock: ExplorerState['clock']): readonly TableColumn<ParsedRow>[] {
  return columns.map((column) => {
    const [title, leastRem, grow] = LAYOUT[column];
    const head = column === 'time' ? `${title} (${clock === 'utc' ? 'UTC' : 'local'})` : title;
    const rem = column === 'time' ? leastRem + offsetRem(clock) : leastRem;
    return { key: column, title: head, leastRem: rem, grow, cell: (row) => cellOf(row, column, clock) };
  });
}

function cellOf(row: ParsedRow, column: OfferedColumn, clock: ExplorerState['clock']) {
  if (column === 'time')
    return html`<time datetime=${new Date(row.timestamp).toISOString()}>${millisecondTime(row.timestamp, clock)}</time>`;
  if (column === 'shieldZoneId') return row.shieldZoneId;
  const text = column === 'logId' ? row.logId : row.fields[column];
  if (text === undefined) return html`<span class="missing" title="The event has no ${column}">–</span>`;
  return html`<bdi class=${column === 'action' ? `action action-${actionKind(text)}` : ''} title=${text}>${text}</bdi>`;
}

const ACTIONS = ['blocked', 'challenged', 'logged', 'allowed'];

/** The usual actions have marks of their own. */
function actionKind(action: string): string {
  return ACTIONS.find((known) => known === action.toLowerCase()) ?? 'other';
}

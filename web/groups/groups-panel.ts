import { useLayoutEffect, useState } from 'preact/hooks';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { EventGroup, Facet } from '../../query/plan/search-result.ts';
import type { Window } from '../api/explore.ts';
import { offsetRem } from '../events/column-layout.ts';
import { FailedPage, NothingFound } from '../events/events-panel.ts';
import { answered, eventTotal } from '../state/answers.ts';
import { apply, explorer } from '../state/explorer.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { ruleNameOf } from '../state/rule-names.ts';
import { itemAt, lineCount } from '../table/loaded-pages.ts';
import { mostLines } from '../table/virtual-scroll.ts';
import { linePx, type TableColumn, VirtualTable } from '../table/virtual-table.ts';
import { countText, numberOf, shareText, timeText, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Value } from '../widgets/value-menu.ts';
import { drillDown } from './drill-down.ts';
import { failure, loaded, retry, startGroups, turn, want } from './group-pages.ts';
import { Sparkline, SparklineAxis } from './sparkline.ts';

/** The events counted by the fields that are chosen, the largest group first. */
export function GroupsPanel() {
  const now = answered.value;
  const [pointed, setPointed] = useState<string | null>(null);
  useLayoutEffect(() => {
    if (now !== null && now.answer.groups !== null) startGroups(now);
  }, [now]);
  const pages = loaded.value;
  const { clock } = explorer.value;
  const most = mostLines(linePx());
  const count = pages === null ? 0 : lineCount(pages, most);
  const window = now === null ? null : now.question.body;
  const groupBy = now?.question.body.groupBy ?? [];
  const all = now === null || now.answer.histogram === null ? null : eventTotal(now.answer);
  const facts = contextColumns(clock).filter(({ key }) => !groupBy.some((field) => field === key));
  const columns = [...groupBy.map(dimensionColumn), ...countColumns(all), sparklineColumn(window, clock, setPointed), ...facts];
  const spelled = groupBy.filter((field) => hasSpellings(now?.answer.facets ?? [], field));
  return html`${spelled.length === 0 ? null : html`<p class="groups-note">${spellingsNote(spelled)}</p>`}
  ${
    pages !== null && pages.total === 0
      ? html`<${NothingFound} />`
      : html`<${VirtualTable}
            label="Groups, the largest first"
            columns=${columns}
            count=${count}
            itemAt=${(line: number) => (pages === null ? undefined : itemAt(pages, line))}
            contents=${String(turn.value)}
            isCurrent=${() => false}
            onView=${want}
            onOpen=${showEvents}
          />`
  }
    <${FailedPage} failure=${failure.value} onRetry=${retry} />
    <div class="table-foot">
      <span>${pages === null || pages.total === null ? '' : groupsWords(count, pages.total)}</span>
      <span class="pointed">${pointed ?? ''}</span>
    </div>`;
}

/** Whether a value of the field is there in several spellings, among those that are counted. */
function hasSpellings(facets: readonly Facet[], field: GroupDimension): boolean {
  return facets.some((facet) => facet.field === field && facet.values.some(({ spellings }) => spellings > 1));
}

function spellingsNote(fields: readonly GroupDimension[]): string {
  return `Each spelling of ${fields.join(' and ')} is a group of its own; a filter takes all spellings of a value.`;
}

function groupsWords(count: number, total: number): string {
  const words = numberOf(total, 'group');
  if (count === total) return words;
  return (
    `The first ${countText(count)} of ${words}, because browsers show no longer table. ` +
    'A shorter time, one more condition or fewer fields leave fewer groups.'
  );
}

function showEvents({ key }: EventGroup): void {
  // Not those that are chosen by now: the group is of the last answer.
  const state = { ...explorer.peek(), groupBy: answered.peek()?.question.body.groupBy ?? [] };
  const words = state.groupBy.map((field) => `${field} ${valueOrNone(key[field] ?? '')}`).join(', ');
  apply(drillDown(state, key), { words: `Events of ${words}` });
}

/** The least widths of values that can be read. */
const FIELD_REM: Readonly<Record<GroupDimension, number>> = {
  shieldZoneId: 8,
  feature: 9.5,
  ruleId: 14,
  ip: 11,
  ja4: 18,
  ua: 20,
  url: 22,
  asn: 6,
  country: 5.5,
  action: 7,
};

/** So that a telephone shows two fields and their count side by side, and an IPv4 address whole. */
const FIELD_VW = 28;
const IP_VW = 38;

function dimensionColumn(field: GroupDimension): TableColumn<EventGroup> {
  const cell = ({ key }: EventGroup) => html`<${Value} field=${field} value=${key[field] ?? ''} isStop=${false} />`;
  return { key: field, title: field, leastRem: FIELD_REM[field], leastVw: field === 'ip' ? IP_VW : FIELD_VW, grow: 1, cell };
}

function textColumn(key: string, title: string, leastRem: number, textOf: (group: EventGroup) => string): TableColumn<EventGroup> {
  const cell = (group: EventGroup) => html`<bdi title=${textOf(group)}>${textOf(group)}</bdi>`;
  return { key, title, leastRem, grow: 0, cell };
}

function numberColumn(key: string, title: string, leastRem: number, textOf: (group: EventGroup) => string): TableColumn<EventGroup> {
  return { key, title, leastRem, grow: 0, isNumber: true, cell: textOf };
}

function countColumns(all: number | null): readonly TableColumn<EventGroup>[] {
  return [
    numberColumn('count', 'Events', 6, ({ count }) => countText(count)),
    numberColumn('share', 'Share', 4.5, ({ count }) => (all === null ? '' : shareText(count, all))),
  ];
}

/** What else is known of a group. Columns that are named for a field are left out where the table is grouped by it. */
function contextColumns(clock: ExplorerState['clock']): readonly TableColumn<EventGroup>[] {
  return [
    numberColumn('blocked', 'Blocked', 6, ({ context }) => countText(context.blocked)),
    numberColumn('challenged', 'Challenged', 7.5, ({ context }) => countText(context.challenged)),
    numberColumn('logged', 'Logged', 6, ({ context }) => countText(context.logged)),
    textColumn('country', 'Country', 5.5, ({ context }) => context.country),
    textColumn('asn', 'AS', 6, ({ context }) => context.asn),
    textColumn('feature', 'Features', 9, ({ context }) => context.features),
    textColumn('ruleId', 'Rules', 14, ({ context }) => rulesText(context.ruleIds)),
    textColumn('firstSeen', 'First', 13 + offsetRem(clock), ({ firstSeen }) => timeText(firstSeen, clock)),
    textColumn('lastSeen', 'Last', 13 + offsetRem(clock), ({ lastSeen }) => timeText(lastSeen, clock)),
  ];
}

/** Ids of rules with their names: `r-1 Login, r-2`. An id may have a comma; then its pieces stand there as they are. */
function rulesText(ids: string): string {
  const named = (id: string): string => `${id} ${ruleNameOf(id)}`.trim();
  return ids.split(',').map(named).join(', ');
}

/** Without a window, before the first answer, its head has no axis. */
function sparklineColumn(
  window: Window | null,
  clock: ExplorerState['clock'],
  onPoint: (words: string | null) => void,
): TableColumn<EventGroup> {
  return {
    key: 'sparkline',
    title: window === null ? 'Over time' : html`<${SparklineAxis} window=${window} clock=${clock} />`,
    leastRem: 18,
    grow: 2,
    cell: ({ sparkline }) =>
      sparkline === undefined || window === null
        ? ''
        : html`<${Sparkline} counts=${sparkline} window=${window} clock=${clock} onPoint=${onPoint} />`,
  };
}

import type { GroupDimension } from '../../query/event-fields.ts';
import { type FieldValue, filterChange, isDimension, mayBeEmpty, type Side } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { ruleNameOf } from '../state/rule-names.ts';
import { writeClipboard } from './clipboard.ts';
import { valueOrNone } from './format.ts';
import { type Children, html } from './html.ts';
import { openMenu } from './menu.ts';
import { say } from './toast.ts';

/** Keeps the events with a value, or those without it. */
export function filterBy(side: Side, field: GroupDimension, value: string): void {
  const change = filterChange(explorer.peek(), side, field, value);
  const words = `${side === 'filters' ? 'Filtered in' : 'Filtered out'}: ${field} ${valueOrNone(value)}`;
  if (change !== null) apply(change, { words });
}

/** Keeps the events that have all of these values. */
export function filterByAll(values: readonly FieldValue[]): void {
  let state = explorer.peek();
  for (const { field, value } of values) state = { ...state, ...filterChange(state, 'filters', field, value) };
  const words = values.map(({ field, value }) => `${field} ${valueOrNone(value)}`).join(' and ');
  apply(state, { words: `Filtered in: ${words}` });
}

/** Groups by a field, after those that are chosen, or no longer by it. The table of groups may be below the window, so the page says so. */
export function toggleGroup(field: GroupDimension): void {
  const { groupBy } = explorer.peek();
  if (groupBy.includes(field)) apply({ groupBy: groupBy.filter((one) => one !== field) }, { words: `No longer grouped by ${field}` });
  else apply({ groupBy: [...groupBy, field] }, { words: `Grouped by ${[...groupBy, field].join(', ')}` });
}

/** Writes a text to the clipboard. */
export async function copy(text: string): Promise<void> {
  try {
    await writeClipboard(text);
    say('Copied');
  } catch (error) {
    say(`The browser did not let it be copied: ${error instanceof Error ? error.message : error}`);
  }
}

/** What can be done with a value, wherever it stands. */
function openValueMenu(anchor: HTMLElement, field: GroupDimension, value: string): void {
  const isGrouped = explorer.peek().groupBy.includes(field);
  const items = [
    { label: 'Filter in', run: () => filterBy('filters', field, value) },
    { label: 'Filter out', run: () => filterBy('exclude', field, value), isDisabled: !isDimension(field) },
    {
      label: 'What is different about it?',
      run: () => isDimension(field) && apply({ comparison: { kind: 'value', field, value } }),
      isDisabled: !isDimension(field) || value === '',
    },
    {
      label: isGrouped ? `Ungroup ${field}` : `Group by ${field}`,
      run: () => toggleGroup(field),
    },
    { label: 'Copy', run: () => void copy(value), isDisabled: value === '' },
  ];
  const note = noteOn(field, value);
  const title = (): string => [`${field}: ${valueOrNone(value)}`, nameOf(field, value)].join(' ').trim();
  openMenu({ anchor, content: () => ({ title: title(), items, ...(note === undefined ? {} : { note }) }) });
}

function noteOn(field: GroupDimension, value: string): string | undefined {
  if (value === '') return mayBeEmpty(field) ? noneNote(field) : undefined;
  return field === 'ip' ? 'Counted is this spelling of the address. The filters are about the address in every spelling.' : undefined;
}

/** Counts put empty texts together with missing values, which no clause does. */
function noneNote(field: GroupDimension): string {
  return `Counted are events without a ${field} and those where it is empty. The filters are about those without it alone.`;
}

/** What a value is called: the name of a rule; empty where there is none. */
function nameOf(field: GroupDimension, value: string): string {
  return field === 'ruleId' ? ruleNameOf(value) : '';
}

interface ValueProps {
  readonly field: GroupDimension;
  readonly value: string;
  /** Whether Tab comes by; false for those that the arrow keys of a list lead to. */
  readonly isStop?: boolean;
  /** Absent: the value itself. */
  readonly children?: Children;
}

/** A value that opens its menu; the name of a rule stands behind its id. */
export function Value({ field, value, isStop = true, children }: ValueProps) {
  const name = children === undefined ? nameOf(field, value) : '';
  return html`<button
    class="value"
    tabindex=${isStop ? undefined : -1}
    aria-haspopup="menu"
    aria-description=${field}
    title=${name === '' ? value : `${value} ${name}`}
    onClick=${(event: MouseEvent) => openValueMenu(event.currentTarget as HTMLElement, field, value)}
  >
    ${children ?? valueOrNone(value)}${name === '' ? null : html` <span class="rule-name">${name}</span>`}
  </button>`;
}

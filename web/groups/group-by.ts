import { GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import { apply, explorer } from '../state/explorer.ts';
import { moved, movedTo } from '../state/ordered-choice.ts';
import { html } from '../widgets/html.ts';
import { useKeptFocus } from '../widgets/kept-focus.ts';

/** What the events are grouped by, in an order that buttons and the mouse change. */
export function GroupBy() {
  const { groupBy } = explorer.value;
  const { list, keep } = useKeptFocus<HTMLDivElement>(groupBy);
  const left = GROUP_DIMENSIONS.filter((field) => !groupBy.includes(field));
  const choose = (fields: readonly GroupDimension[], focus: string): void => {
    keep(focus);
    apply({ groupBy: fields });
  };
  const added = (event: Event): void => {
    const select = event.currentTarget as HTMLSelectElement;
    const field = left.find((name) => name === select.value);
    select.value = '';
    if (field !== undefined) choose([...groupBy, field], 'add');
  };
  return html`<div class="group-by" ref=${list}>
    ${
      groupBy.length === 0
        ? null
        : html`<ol aria-label="Grouped by, in this order">
            ${groupBy.map((field) => html`<${Dimension} key=${field} field=${field} groupBy=${groupBy} choose=${choose} />`)}
          </ol>`
    }
    ${
      left.length === 0
        ? null
        : html`<select data-focus="add" aria-label=${groupBy.length === 0 ? 'Group by' : 'Group also by'} onChange=${added}>
            <option value="">${groupBy.length === 0 ? 'Group by…' : 'and by…'}</option>
            ${left.map((field) => html`<option key=${field} value=${field}>${field}</option>`)}
          </select>`
    }
    ${groupBy.length === 0 ? null : html`<button onClick=${() => choose([], 'add')}>Ungroup</button>`}
  </div>`;
}

interface DimensionProps {
  readonly field: GroupDimension;
  readonly groupBy: readonly GroupDimension[];
  /** Sets the fields; the element of that name has the focus then. */
  readonly choose: (fields: readonly GroupDimension[], focus: string) => void;
}

const DRAGGED = 'text/x-shieldlog-field';

function Dimension({ field, groupBy, choose }: DimensionProps) {
  const step = (by: number, mark: string, words: string) => html`<button
    class="quiet"
    data-focus=${`${field} ${by}`}
    aria-label=${`Move ${field} ${words}`}
    aria-disabled=${groupBy.at(by < 0 ? 0 : -1) === field}
    onClick=${() => choose(moved(groupBy, field, by), `${field} ${by}`)}
  >
    ${mark}
  </button>`;
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    const other = groupBy.find((name) => name === event.dataTransfer?.getData(DRAGGED));
    if (other !== undefined) choose(movedTo(groupBy, other, field), `${other} 1`);
  };
  const draggedOver = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
  };
  return html`<li
    class="chip"
    draggable="true"
    onDragStart=${(event: DragEvent) => event.dataTransfer?.setData(DRAGGED, field)}
    onDragOver=${draggedOver}
    onDrop=${dropped}
  >
    ${groupBy.length === 1 ? null : step(-1, '‹', 'to the front')}
    <span>${field}</span>
    ${groupBy.length === 1 ? null : step(1, '›', 'to the back')}
    <button
      class="quiet"
      aria-label=${`Do not group by ${field}`}
      onClick=${() =>
        choose(
          groupBy.filter((one) => one !== field),
          'add',
        )}
    >
      ✕
    </button>
  </li>`;
}

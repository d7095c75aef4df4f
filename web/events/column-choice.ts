import { answered } from '../state/answers.ts';
import { apply, explorer } from '../state/explorer.ts';
import { zonesText } from '../state/explorer-state.ts';
import { OFFERED_COLUMNS, type OfferedColumn, usualColumns, withColumn } from '../state/offered-columns.ts';
import { moved } from '../state/ordered-choice.ts';
import { html } from '../widgets/html.ts';
import { useKeptFocus } from '../widgets/kept-focus.ts';
import { Popover } from '../widgets/popover.ts';
import { columnTitle } from './column-layout.ts';

/** The columns of the table of events now. The usual ones go by the zones of the events that are in it. */
export function shownColumns(): readonly OfferedColumn[] {
  const { columns, zones, isLive } = explorer.value;
  const shown = (isLive ? undefined : answered.value?.question.zones) ?? zonesText(zones);
  return columns ?? usualColumns(shown === 'all' || shown.includes(','));
}

/** The button whose panel chooses columns and their order. */
export function ColumnChoice() {
  return html`<${Popover} title="Columns of the table" content=${() => html`<${ColumnList} />`}>Columns</${Popover}>`;
}

function choose(columns: readonly OfferedColumn[] | null): void {
  apply({ columns }, { replace: true });
}

function ColumnList() {
  const shown = shownColumns();
  const all = [...shown, ...OFFERED_COLUMNS.filter((column) => !shown.includes(column))];
  const { list, keep } = useKeptFocus<HTMLUListElement>(all);
  const toggled = (column: OfferedColumn, event: Event): void => {
    keep(column);
    choose(withColumn(shown, column, (event.currentTarget as HTMLInputElement).checked));
  };
  return html`<div class="column-choice">
    <ul ref=${list}>
      ${all.map(
        (column) => html`<li key=${column}>
          <label class="row">
            <input
              type="checkbox"
              data-focus=${column}
              checked=${shown.includes(column)}
              disabled=${shown.length === 1 && shown.includes(column)}
              onChange=${(event: Event) => toggled(column, event)}
            />
            ${columnTitle(column)}
          </label>
          ${shown.includes(column) ? html`<${MoveButtons} column=${column} shown=${shown} keep=${keep} />` : null}
        </li>`,
      )}
    </ul>
    <button disabled=${explorer.value.columns === null} onClick=${() => choose(null)}>The usual columns</button>
  </div>`;
}

interface MoveButtonsProps {
  readonly column: OfferedColumn;
  readonly shown: readonly OfferedColumn[];
  readonly keep: (name: string) => void;
}

function MoveButtons({ column, shown, keep }: MoveButtonsProps) {
  const step = (by: number, mark: string, words: string) => html`<button
    class="quiet"
    data-focus=${`${column} ${by}`}
    aria-label=${`Move ${columnTitle(column)} ${words}`}
    aria-disabled=${shown.at(by < 0 ? 0 : -1) === column}
    onClick=${() => [keep(`${column} ${by}`), choose(moved(shown, column, by))]}
  >
    ${mark}
  </button>`;
  return html`<span class="moves">${step(-1, '↑', 'to the front')}${step(1, '↓', 'to the back')}</span>`;
}

import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { DIMENSIONS, type Dimension } from '../../query/event-fields.ts';
import { FILTER_OP_NAMES, FILTER_OPS, type FilterOp } from '../../query/filter-ops.ts';
import type { LineClause } from '../../query/search-line.ts';
import { answeredFacets } from '../state/answers.ts';
import type { Side } from '../state/conditions.ts';
import { html } from '../widgets/html.ts';
import { clauseFault } from './clause-fault.ts';

export const OP_WORDS: Readonly<Record<FilterOp, string>> = {
  eq: 'is',
  in: 'is one of',
  contains: 'contains',
  wildcard: 'matches, with * for anything',
  cidr: 'is in the network',
};

/** What the field of each operation shows while it is empty. */
const EXAMPLES: Readonly<Record<FilterOp, string>> = {
  eq: 'the whole value',
  in: 'a value a line',
  contains: 'a text a line; one has to occur',
  wildcard: 'https://*/login*',
  cidr: '198.51.100.0/24',
};

interface ClauseEditorProps {
  readonly side: Side;
  readonly clause: LineClause;
  readonly onDone: (side: Side, clause: LineClause) => void;
  /** Absent for a clause that is not there yet. */
  readonly onRemove?: () => void;
}

/** Field, operation and values of one condition, checked as they are typed. */
export function ClauseEditor({ side: sideAtFirst, clause, onDone, onRemove }: ClauseEditorProps) {
  const side = useSignal(sideAtFirst);
  const field = useSignal(clause.field);
  const op = useSignal<FilterOp>(clause.op);
  const textAtFirst = clause.value.join('\n');
  const text = useSignal(textAtFirst);
  const faultId = useId();
  // A value may be empty or have line breaks, which a text with a value a line does not tell.
  const isAsAtFirst = text.value === textAtFirst && op.value === clause.op;
  const values = isAsAtFirst ? clause.value : valuesOf(op.value, text.value);
  const fault = clauseFault(field.value, op.value, values);
  const isUntouched = text.value === '' && clause.value.length === 0;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (fault === null) onDone(side.value, { field: field.value, op: op.value, value: values });
  };
  const changeField = (next: Dimension): void => {
    field.value = next;
    if (op.value === 'cidr' && next !== 'ip') op.value = 'eq';
  };
  return html`<form class="clause-form" onSubmit=${submit}>
    <div class="row">
      <select
        aria-label="Field"
        value=${field.value}
        onChange=${(event: SelectEvent) => changeField(event.currentTarget.value as Dimension)}
      >
        ${DIMENSIONS.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
      <select
        aria-label="Side"
        value=${side.value}
        onChange=${(event: SelectEvent) => {
          side.value = event.currentTarget.value as Side;
        }}
      >
        <option value="filters">keep what</option>
        <option value="exclude">leave out what</option>
      </select>
      <select
        aria-label="Operation"
        value=${op.value}
        onChange=${(event: SelectEvent) => {
          op.value = event.currentTarget.value as FilterOp;
        }}
      >
        ${FILTER_OP_NAMES.map((name) => {
          const isForAddresses = FILTER_OPS[name].onAddresses === true;
          return html`<option value=${name} disabled=${isForAddresses && field.value !== 'ip'}>${OP_WORDS[name]}</option>`;
        })}
      </select>
    </div>
    <${ValueInput} field=${field.value} op=${op.value} text=${text} isInvalid=${fault !== null && !isUntouched} faultId=${faultId} />
    <p id=${faultId} class="fault" role="status">${fault === null || isUntouched ? '' : fault.message}</p>
    <div class="row">
      <button type="submit" class="primary" disabled=${fault !== null}>Apply</button>
      ${onRemove === undefined ? null : html`<button onClick=${onRemove}>Remove</button>`}
    </div>
  </form>`;
}

type SelectEvent = Event & { readonly currentTarget: HTMLSelectElement };

/** The values of a text; blanks and empty lines count only in a single value. */
function valuesOf(op: FilterOp, text: string): readonly string[] {
  if (op === 'eq') return text === '' ? [] : [text];
  return text
    .split('\n')
    .map((line) => (op === 'cidr' ? line.trim() : line))
    .filter((line) => line !== '');
}

interface ValueInputProps {
  readonly field: Dimension;
  readonly op: FilterOp;
  readonly text: { value: string };
  readonly isInvalid: boolean;
  readonly faultId: string;
}

/** One line for one value, with the most frequent ones to choose from; several lines otherwise, and for a value that has some. */
function ValueInput({ field, op, text, isInvalid, faultId }: ValueInputProps) {
  const listId = useId();
  const hadLines = useRef(false);
  // It stays as it is while somebody takes the line breaks away.
  hadLines.current ||= op === 'eq' && text.value.includes('\n');
  const known = answeredFacets.value?.answer.facets?.find((facet) => facet.field === field)?.values ?? [];
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }): void => {
    text.value = currentTarget.value;
  };
  const shared = {
    name: 'value',
    class: 'code',
    autofocus: true,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: EXAMPLES[op],
    value: text.value,
    onInput,
    'aria-label': 'Value',
    'aria-invalid': isInvalid || undefined,
    'aria-describedby': faultId,
  };
  if (op !== 'eq' || hadLines.current)
    return html`<textarea ...${shared} rows=${Math.min(8, Math.max(2, text.value.split('\n').length))} />`;
  return html`<input ...${shared} list=${listId} />
    <datalist id=${listId}>${known.map(({ value }) => html`<option value=${value} />`)}</datalist>`;
}

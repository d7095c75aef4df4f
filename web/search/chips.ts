import { queryTerms } from '../../query/query-terms.ts';
import { type LineClause, searchLineOf } from '../../query/search-line.ts';
import { faultAt } from '../state/answers.ts';
import { mayBeEmpty, type Side, turnedOver, withClause, withClauseAt, withoutClause, withoutTerm } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { NO_SEARCH } from '../state/explorer-state.ts';
import { html } from '../widgets/html.ts';
import { Popover } from '../widgets/popover.ts';
import { ClauseEditor, OP_WORDS } from './clause-editor.ts';

/** The conditions of the search, each with its editor and a button that removes it. */
export function Chips() {
  const { search } = explorer.value;
  return html`<ul class="chips" aria-label="Conditions">
    ${queryTerms(search.query).map((term) => html`<${TermChip} key=${`term ${term}`} term=${term} />`)}
    ${(['filters', 'exclude'] as const).map((side) =>
      search[side].map((clause, index) => html`<${ClauseChip} key=${`${side} ${index}`} side=${side} index=${index} clause=${clause} />`),
    )}
    <li>
      <${Popover} label="Add a filter" title="Add a filter (f)" shortcut="f" class="quiet" content=${newClause}>+ Filter<//>
    </li>
  </ul>`;
}

function newClause(close: () => void) {
  const add = (side: Side, clause: LineClause): void => {
    close();
    apply({ search: withClause(explorer.peek().search, side, clause) });
  };
  return html`<${ClauseEditor} side="filters" clause=${{ field: 'ip', op: 'eq', value: [] }} onDone=${add} />`;
}

interface TermChipProps {
  readonly term: string;
}

function TermChip({ term }: TermChipProps) {
  const remove = (): void => apply({ search: withoutTerm(explorer.peek().search, term) }, { words: `Removed: ${term}` });
  return html`<li class="chip">
    <span class="chip-text code">${term}</span>
    <button class="chip-remove" aria-label=${`Remove ${term}`} onClick=${remove}>✕</button>
  </li>`;
}

interface ClauseChipProps {
  readonly side: Side;
  readonly index: number;
  readonly clause: LineClause;
}

function ClauseChip({ side, index, clause }: ClauseChipProps) {
  const text = clauseWords(side, clause);
  const fault = faultAt(`${side}[${index}]`);
  const remove = (): void => apply({ search: withoutClause(explorer.peek().search, side, index) }, { words: `Removed: ${text}` });
  const editor = (close: () => void) => {
    const done = (nextSide: Side, next: LineClause): void => {
      close();
      const changed = withClauseAt(explorer.peek().search, side, index, next);
      apply({ search: nextSide === side ? changed : turnedOver(changed, side, index) });
    };
    const removed = (): void => {
      close();
      remove();
    };
    return html`${fault === null ? null : html`<p class="fault">${fault}</p>`}
      <${ClauseEditor} side=${side} clause=${clause} onDone=${done} onRemove=${removed} />`;
  };
  return html`<li class=${`chip ${side}`}>
    <${Popover} label=${`Edit ${text}`} title=${fault ?? text} class="chip-text code" isInvalid=${fault !== null} content=${editor}>
      ${text}
    <//>
    <${EmptyNote} side=${side} clause=${clause} />
    <button class="chip-remove" aria-label=${`Remove ${text}`} onClick=${remove}>✕</button>
  </li>`;
}

interface EmptyNoteProps {
  readonly side: Side;
  readonly clause: LineClause;
}

/** What a clause for (none) does with empty texts: counts put them together with missing values, which no clause does. */
function EmptyNote({ side, clause: { field, op, value } }: EmptyNoteProps) {
  if (op !== 'wildcard' || !mayBeEmpty(field) || value.length !== 1 || value[0] !== '*') return null;
  const words = side === 'exclude' ? `Events with an empty ${field} are not found.` : `Events with an empty ${field} are found, too.`;
  return html`<span class="chip-note">${words}</span>`;
}

/** The clause as the search line has it, or in words where no line says it. */
export function clauseWords(side: Side, clause: LineClause): string {
  const line = searchLineOf({ ...NO_SEARCH, [side]: [clause] });
  return line ?? `${side === 'exclude' ? 'not ' : ''}${clause.field} ${OP_WORDS[clause.op]} ${clause.value.join(', ')}`;
}

import { useSignal } from '@preact/signals';
import { printable } from '../../query/search-line.ts';
import { checkedLine } from '../search/clause-fault.ts';
import { searchOfLine } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { html } from '../widgets/html.ts';
import { Popover } from '../widgets/popover.ts';

/** The button whose panel takes a search line: what it finds is held against the rest of the events. */
export function CompareButton() {
  return html`<${Popover}
    title="Hold what a search line finds against the rest"
    content=${(close: () => void) => html`<${CompareForm} close=${close} />`}
  >
    Compare…
  <//>`;
}

function CompareForm({ close }: { readonly close: () => void }) {
  const { comparison } = explorer.value;
  // A line reads escapes as what they stand for, and a field would obey marks of direction.
  const line = useSignal(comparison?.kind === 'line' ? printable(comparison.line) : '');
  const read = checkedLine(line.value);
  const isComplete = searchOfLine(line.value) !== null && !('fault' in read);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isComplete) return;
    close();
    apply({ comparison: { kind: 'line', line: line.value.trim() } });
  };
  const compareBefore = (): void => {
    close();
    apply({ comparison: { kind: 'before' } });
  };
  return html`<form class="compare-form" onSubmit=${submit}>
    <label>
      Hold what this line finds against the rest
      <input
        name="compared"
        class="code"
        autocomplete="off"
        spellcheck=${false}
        placeholder="ip:198.51.100.0/24   -action:allowed   words"
        value=${line.value}
        aria-invalid=${'fault' in read || undefined}
        aria-describedby="compared-fault"
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
          line.value = currentTarget.value;
        }}
      />
    </label>
    <p id="compared-fault" class="fault" role="status">${'fault' in read ? read.fault : ''}</p>
    <button type="submit" class="primary" disabled=${!isComplete}>Compare</button>
    <button onClick=${compareBefore}>All of this time with the 24 hours before</button>
  </form>`;
}

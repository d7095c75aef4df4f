import { signal } from '@preact/signals';
import { Dialog } from '../widgets/dialog.ts';
import { html } from '../widgets/html.ts';
import { areShortcutsOn, turnShortcuts } from '../widgets/shortcuts.ts';

const isOpen = signal(false);

const KEYS: readonly (readonly [keys: string, words: string])[] = [
  ['/', 'type a search'],
  ['f', 'add a filter'],
  ['t', 'choose the time'],
  ['z', 'choose the zones'],
  ['r', 'search again, up to now'],
  ['a', 'search again every 10 s'],
  ['l', 'live: events as they come in'],
  ['s', 'saved searches'],
  ['x', 'stop comparing'],
  ['e', 'go to the table'],
  ['c', 'copy the open event as text, for a ticket'],
  ['u', 'take the last change back'],
  ['?', 'this list'],
  ['← →', 'in the histogram, go from bar to bar; with Shift, choose a stretch; Enter opens what can be done with it'],
  ['↑ ↓ ← →', 'among the values of the fields, go from value to value'],
  ['↑ ↓', 'in a table, go from line to line; Page Up, Page Down, Home and End go further'],
  ['← →', 'in a table of groups, go from the line to its values, and back'],
  ['↓', 'in the search line, choose a completion; Enter takes it'],
  ['Enter', 'open the menu of a value, an event, or the events of a group'],
  ['Esc', 'close what is open; leave an empty search line'],
];

const SYNTAX: readonly (readonly [line: string, words: string])[] = [
  ['nuclei "sql injection"', 'both occur in ip, rule, URL or user agent'],
  ['country:NL', 'the value is this'],
  ['country:NL,DE', 'one of these'],
  ['-action:allowed', 'not this'],
  ['ip:198.51.100.0/24', 'in the network'],
  ['url:~login', 'contains this'],
  ['url:https://*/login*', '* is anything'],
  ['ua:"Mozilla/5.0 (X11)"', 'quotes keep blanks and what is special'],
];

/** The button and the dialog that say which keys there are, and what a search line may say. */
export function Help() {
  const open = (): void => {
    isOpen.value = true;
  };
  const close = (): void => {
    isOpen.value = false;
  };
  const lines = (all: readonly (readonly [string, string])[], name: 'kbd' | 'code') => html`<dl class="help-list">
    ${all.map(([first, words]) => html`<div><dt><${name}>${first}<//></dt><dd>${words}</dd></div>`)}
  </dl>`;
  return html`<button class="quiet" aria-label="Help" title="Keys and search lines (?)" data-shortcut="?" onClick=${open}>
      ?
    </button>
    ${
      isOpen.value
        ? html`<${Dialog} title="Help" onClose=${close}>
            <h3>Keys</h3>
            ${lines(KEYS, 'kbd')}
            <label class="row">
              <input
                type="checkbox"
                checked=${areShortcutsOn.value}
                onChange=${(event: Event & { readonly currentTarget: HTMLInputElement }) => turnShortcuts(event.currentTarget.checked)}
              />
              Single keys do this
            </label>
            <h3>Search lines</h3>
            ${lines(SYNTAX, 'code')}
            <p><a href="docs/" target="_blank" rel="noreferrer">The HTTP interface behind this page</a></p>
          <//>`
        : null
    }`;
}

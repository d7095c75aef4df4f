import { signal } from '@preact/signals';
import { keepText, keptText } from '../api/kept-text.ts';

const STORED_AS = 'shieldlog single keys';

const storage = (): Storage => localStorage;

/** Whether single keys do something; people who dictate or whose keys repeat turn that off. */
export const areShortcutsOn = signal(keptText(storage, STORED_AS) !== 'off');

export function turnShortcuts(isOn: boolean): void {
  keepText(storage, STORED_AS, isOn ? 'on' : 'off');
  areShortcutsOn.value = isOn;
}

/**
 * A single key goes to the element that names it in `data-shortcut`: fields and tables get the focus, buttons are clicked. Keys that are
 * typed into a field, or pressed together with others, or while a dialog is open, mean what they always do.
 */
export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || key.length !== 1 || !areShortcutsOn.peek()) return;
    if (target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [popover], [contenteditable]')) return;
    const element = document.querySelector<HTMLElement>(`[data-shortcut="${CSS.escape(key)}"]`);
    if (element === null) return;
    event.preventDefault();
    if (element.matches('input, textarea, select, [role=grid]')) element.focus();
    else element.click();
  });
}

// What is open on the page, kept in the browser's history, so that Back closes it: a group, whose events are asked for, and an event, shown whole.
import { focusLine } from './table-lines.js';

/** A group is `{zone, field, value}`, an event its JSON text; null: none. */
const NOTHING_OPEN = { group: null, event: null };

/** Calls `onGroup()` whenever another group is open, or none. */
export function startView({ dialog, text, close, onGroup }) {
  let view = history.state ?? NOTHING_OPEN;
  /** Where the focus goes when the event is closed. */
  let opener = null;

  function draw() {
    text.textContent = view.event ?? '';
    if (view.event !== null && !dialog.open) dialog.showModal();
    if (view.event === null && dialog.open) dialog.close();
  }

  function go(next) {
    history.pushState(next, '');
    view = next;
    draw();
  }

  addEventListener('popstate', () => {
    const before = view;
    view = history.state ?? NOTHING_OPEN;
    draw();
    if (JSON.stringify(before.group) !== JSON.stringify(view.group)) onGroup();
  });
  close.addEventListener('click', () => dialog.close());
  // The button, Escape, and Back, which has gone back already.
  dialog.addEventListener('close', () => {
    if (view.event !== null) history.back();
    if (opener !== null) focusLine(opener.table, opener.key);
  });
  draw();

  return {
    get group() {
      return view.group;
    },
    openGroup(group) {
      go({ ...NOTHING_OPEN, group });
      onGroup();
    },
    openEvent(event, table, key) {
      opener = { table, key };
      go({ ...view, event: JSON.stringify(event, null, 2) });
    },
  };
}

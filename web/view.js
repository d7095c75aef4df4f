// The open group, whose events are searched, and the open event, which is shown whole. The browser's history has them, so that Back closes
// them.
import { focusLine } from './table-lines.js';

/** A group is `{zone, field, value}`, an event its JSON text; null means that none is open. */
const NOTHING_OPEN = { group: null, event: null };

/** Calls `onGroup()` when another group or none is open. */
export function startView({ dialog, text, close, onGroup }) {
  let view = history.state ?? NOTHING_OPEN;
  /** The line that gets the focus when the event is closed. */
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
  // The button, Escape and Back close the dialog. After Back, the view has no event any more.
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

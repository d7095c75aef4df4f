// Lines of the tables that can be opened with the mouse or the keyboard.

function cell(content) {
  const td = document.createElement('td');
  td.append(content);
  if (typeof content === 'string') td.title = content;
  return td;
}

/**
 * A line of these cells, texts or elements. With `open`, a click anywhere in it or Enter on its first cell calls that; `key` says which line it is
 * among those of its table, whenever that is drawn anew.
 */
export function tableLine({ key, open, cells: [first, ...others] }) {
  const tr = document.createElement('tr');
  tr.dataset.key = key;
  if (open === null) {
    tr.append(cell(first), ...others.map(cell));
    return tr;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = first;
  button.title = first;
  tr.append(cell(button), ...others.map(cell));
  tr.addEventListener('click', () => {
    // Who marks a text to copy it does not want to go elsewhere.
    if (getSelection().isCollapsed) open();
  });
  return tr;
}

/** Puts the focus on the line of this key, if the table has it. */
export function focusLine(table, key) {
  const line = [...table.children].find((candidate) => candidate.dataset.key === key);
  line?.querySelector('button')?.focus({ preventScroll: true });
}

/** Draws the table anew. The line that has the focus keeps it. */
export function drawLines(table, lines) {
  const focused = table.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.key : null;
  table.replaceChildren(...lines);
  if (focused !== null) focusLine(table, focused);
}

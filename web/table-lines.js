// Lines of tables that can be opened with the mouse or the keyboard.

function cell(content) {
  const td = document.createElement('td');
  td.append(content);
  if (typeof content === 'string') td.title = content;
  return td;
}

/**
 * A line with the given cells, texts or elements. A click on it or Enter on its first cell calls `open`, unless that is null. `key`
 * identifies the line when its table is drawn again.
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
    // A user who selects text to copy it does not want to open the line.
    if (getSelection().isCollapsed) open();
  });
  return tr;
}

/** Focuses the line with the key, if the table has it. */
export function focusLine(table, key) {
  const line = [...table.children].find((candidate) => candidate.dataset.key === key);
  line?.querySelector('button')?.focus({ preventScroll: true });
}

/** Replaces the lines of the table. The line with the focus keeps it. */
export function drawLines(table, lines) {
  const focused = table.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.key : null;
  table.replaceChildren(...lines);
  if (focused !== null) focusLine(table, focused);
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html } from '../widgets/html.ts';
import { openMenu } from '../widgets/menu.ts';
import { copy } from '../widgets/value-menu.ts';
import { NEW_TREE, type TreeLine, treeLines, treeMove, withMore, withOpen } from './json-tree.ts';

/** The longest text of a value that is shown at once; the whole of it can be copied. */
const SHOWN_LENGTH = 2_000;

/** A log as a tree that folds. It is one stop of the keyboard: arrows go through it, Enter folds, or opens the menu of a value. */
export function LogTree({ log }: { readonly log: string }) {
  const [state, setState] = useState(NEW_TREE);
  const [focused, setFocused] = useState('0');
  const tree = useRef<HTMLDivElement>(null);
  const lines = treeLines(log, state);
  const stop = lines.some(({ path }) => path === focused) ? focused : lines[0]?.path;

  useLayoutEffect(() => {
    // The focus goes along only where the tree has it already.
    if (tree.current?.contains(document.activeElement)) lineOf(tree.current, stop)?.focus();
  }, [stop]);

  const choose = (line: TreeLine, element: HTMLElement): void => {
    setFocused(line.path);
    if (line.more !== null) setState((before) => withMore(before, line));
    else if (line.isOpen !== null) setState((before) => withOpen(before, line.path, line.isOpen === false));
    else openTextMenu(element, line);
  };
  const pressed = (event: KeyboardEvent): void => {
    const line = lines.find(({ path }) => path === stop);
    if (line === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const element = lineOf(event.currentTarget as HTMLElement, line.path);
    const move = treeMove(lines, line.path, event.key);
    if (event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10')) element === null || openTextMenu(element, line);
    else if (event.key === 'Enter' || event.key === ' ') element === null || choose(line, element);
    else if (move?.kind === 'focus') setFocused(move.path);
    else if (move !== null) setState((before) => withOpen(before, move.path, move.kind === 'open'));
    else return;
    event.preventDefault();
  };
  const menued = (event: MouseEvent, line: TreeLine): void => {
    event.preventDefault();
    openTextMenu(event.currentTarget as HTMLElement, line);
  };

  if (lines.length === 0) return html`<p class="hint">The log is empty: <code>${log}</code></p>`;
  return html`<div class="tree" role="tree" aria-label="Log" ref=${tree} onKeyDown=${pressed}>
    ${lines.map(
      (line) => html`<div
        key=${line.path}
        class="tree-line"
        role="treeitem"
        data-path=${line.path}
        tabindex=${line.path === stop ? 0 : -1}
        aria-level=${line.level}
        aria-posinset=${line.place}
        aria-setsize=${line.siblings}
        aria-expanded=${line.isOpen ?? undefined}
        style=${{ '--level': line.level }}
        onClick=${(event: MouseEvent) => choose(line, event.currentTarget as HTMLElement)}
        onContextMenu=${(event: MouseEvent) => menued(event, line)}
      >
        <span class="tree-mark" aria-hidden="true">${line.isOpen === null ? '' : line.isOpen ? '▾' : '▸'}</span>
        ${line.more === null ? html`<bdi class="tree-name">${line.label}</bdi>` : null}
        <bdi class=${`tree-value ${line.kind}`}>${line.text === '""' ? '""' : cut(line.shown)}</bdi>
      </div>`,
    )}
  </div>`;
}

function lineOf(tree: HTMLElement, path: string | undefined): HTMLElement | null {
  return tree.querySelector(`[data-path="${path}"]`);
}

function cut(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}… (${text.length.toLocaleString('en')} characters)` : text;
}

function openTextMenu(anchor: HTMLElement, { label, kind, shown, text, more }: TreeLine): void {
  if (more !== null) return;
  const asText = kind === 'string' ? [{ label: 'Copy the text', run: () => void copy(shown) }] : [];
  const items = [...asText, { label: 'Copy as JSON', run: () => void copy(text) }];
  openMenu({ anchor, content: () => ({ title: label, items }) });
}

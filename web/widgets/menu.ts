import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { html } from './html.ts';
import { placeBeside } from './placement.ts';

/** A line of a menu. */
export interface MenuItem {
  readonly label: string;
  readonly run: () => void;
  readonly isDisabled?: boolean;
  /** Whether it is ticked, of an item that is ticked and leaves the menu open; absent: it is none of these. */
  readonly isTicked?: boolean;
}

export interface MenuContent {
  /** What the menu is about. */
  readonly title: string;
  readonly items: readonly MenuItem[];
  /** What has to be known of the items. */
  readonly note?: string;
}

interface OpenMenu {
  /** Gets the focus back when the menu closes. */
  readonly anchor: HTMLElement;
  /** Called again, while the menu is open, when a signal that it reads changes. */
  readonly content: () => MenuContent;
  /** Where it opens; absent: at the anchor. */
  readonly place?: DOMRect;
  readonly closed?: () => void;
}

const open = signal<OpenMenu | null>(null);

/** Opens a menu in place of the one that is open. */
export function openMenu(menu: OpenMenu): void {
  open.value = menu;
}

/** The one menu of the page, above everything else. */
export function MenuHost() {
  const menu = open.value;
  const popover = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = popover.current;
    if (menu === null || element === null) return;
    element.showPopover();
    placeBeside(element, menu.place ?? menu.anchor.getBoundingClientRect());
    element.querySelector<HTMLElement>('button:enabled')?.focus();
  }, [menu]);
  if (menu === null) return null;
  const { anchor } = menu;
  const { title, items, note } = menu.content();
  const close = (): void => popover.current?.hidePopover();
  const closed = ({ newState }: ToggleEvent): void => {
    if (newState !== 'closed') return;
    const hadFocus = popover.current?.contains(document.activeElement) ?? false;
    open.value = null;
    menu.closed?.();
    if (hadFocus || document.activeElement === document.body) anchor.focus({ preventScroll: true });
  };
  return html`<div class="menu" popover="auto" role="menu" aria-label=${title} ref=${popover} onToggle=${closed} onKeyDown=${moveFocus}>
    <p class="menu-title">${title}</p>
    ${note === undefined ? null : html`<p class="menu-note">${note}</p>`}
    ${items.map(
      ({ label, run, isDisabled = false, isTicked }) => html`<button
        key=${label}
        role=${isTicked === undefined ? 'menuitem' : 'menuitemcheckbox'}
        aria-checked=${isTicked}
        disabled=${isDisabled}
        onClick=${() => {
          if (isTicked === undefined) close();
          run();
        }}
      >
        ${isTicked === undefined ? null : html`<span aria-hidden="true">${isTicked ? '☑ ' : '☐ '}</span>`}${label}
      </button>`,
    )}
  </div>`;
}

const STEPS: Readonly<Record<string, (index: number, length: number) => number>> = {
  ArrowDown: (index, length) => (index + 1) % length,
  ArrowUp: (index, length) => (index - 1 + length) % length,
  Home: () => 0,
  End: (_index, length) => length - 1,
};

function moveFocus(event: KeyboardEvent): void {
  const menu = event.currentTarget as HTMLElement;
  if (event.key === 'Tab') menu.hidePopover();
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...menu.querySelectorAll<HTMLElement>('button:enabled')];
  buttons[step(buttons.indexOf(document.activeElement as HTMLElement), buttons.length)]?.focus();
}

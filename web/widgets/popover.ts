import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Children, html } from './html.ts';
import { placeBeside } from './placement.ts';

interface PopoverProps {
  /** What the button is called; absent: its text. */
  readonly label?: string;
  readonly title?: string;
  readonly class?: string;
  /** The key that opens it; see `shortcuts.ts`. */
  readonly shortcut?: string;
  readonly isInvalid?: boolean;
  /** What is shown while it is open; `close()` closes it. */
  readonly content: (close: () => void) => Children;
  /** The text of the button. */
  readonly children: Children;
}

/** A button that opens a small panel below it. Escape and a click elsewhere close it, and the button has the focus again. */
export function Popover({ label, title, class: className = '', shortcut, isInvalid = false, content, children }: PopoverProps) {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = panel.current;
    if (!isOpen.value || element === null || button.current === null) return;
    element.showPopover();
    placeBeside(element, button.current.getBoundingClientRect());
    element.querySelector<HTMLElement>('[autofocus], input, select, textarea, button')?.focus();
  }, [isOpen.value]);
  const close = (): void => panel.current?.hidePopover();
  const toggled = ({ newState }: ToggleEvent): void => {
    if (newState !== 'closed') return;
    const hadFocus = panel.current?.contains(document.activeElement) || document.activeElement === document.body;
    isOpen.value = false;
    if (hadFocus) button.current?.focus({ preventScroll: true });
  };
  return html`<button
      ref=${button}
      class=${className}
      aria-label=${label}
      title=${title}
      aria-haspopup="dialog"
      aria-expanded=${isOpen.value}
      aria-invalid=${isInvalid || undefined}
      data-shortcut=${shortcut}
      onClick=${() => {
        isOpen.value = true;
      }}
    >
      ${children}
    </button>
    ${
      isOpen.value
        ? html`<div class="popover" popover="auto" role="dialog" aria-label=${label ?? title} ref=${panel} onToggle=${toggled}>
            ${content(close)}
          </div>`
        : null
    }`;
}

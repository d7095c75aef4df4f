/** What gets the focus. Fields do not: a single key that is meant for the page would change what they say. */
const FOCUSABLE = 'a[href], button, [tabindex]:not(input, select, textarea)';

/** A place in the document: within an element, before one of its nodes, or at its end. */
interface Place {
  readonly parent: Node;
  readonly next: Node | null;
}

/**
 * Whoever uses the keyboard keeps a place on the page when the element with the focus is removed, moved or disabled: browsers then begin at
 * the top of the page again. The focus goes to what stands in its place.
 */
export function startKeepingFocus(): void {
  let isByKeyboard = false;
  let held: HTMLElement | null = null;
  const hold = ({ target }: Event): void => {
    held = isByKeyboard && target instanceof HTMLElement && target !== document.body ? target : null;
  };
  const pressed = (event: Event): void => {
    isByKeyboard = true;
    hold(event);
  };
  const pointed = (): void => {
    isByKeyboard = false;
    held = null;
  };
  addEventListener('keydown', pressed, true);
  addEventListener('focusin', hold, true);
  addEventListener('pointerdown', pointed, true);
  const observer = new MutationObserver((records) => {
    const { activeElement } = document;
    if (held === null || !(activeElement === null || activeElement === document.body || activeElement.matches(':disabled'))) return;
    const lost = held;
    held = null;
    if (lost.isConnected && !lost.matches(':disabled')) lost.focus({ preventScroll: true });
    else neighbourOf(placeOf(lost, records))?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** Where an element is, or was before it was removed; null where that went, too, before the records begin. */
function placeOf(element: HTMLElement, records: readonly MutationRecord[]): Place | null {
  let place: Place = { parent: element.parentNode ?? element, next: element.nextSibling };
  while (!place.parent.isConnected) {
    const { parent } = place;
    const removal = records.findLast(({ removedNodes }) => [...removedNodes].some((node) => node.contains(parent)));
    if (removal === undefined) return null;
    place = { parent: removal.target, next: removal.nextSibling };
  }
  return place;
}

/** What takes the focus and follows a place in the nearest element that has such; or is the last one before it there. */
function neighbourOf(place: Place | null): HTMLElement | null {
  if (place === null) return null;
  const { parent, next } = place;
  const inside = parent instanceof Element ? [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(takesFocus) : [];
  const follows = (element: HTMLElement): boolean =>
    next !== null && parent.contains(next) && (next.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) === 0;
  const found = inside.find(follows) ?? inside.at(-1);
  if (found !== undefined) return found;
  return parent.parentNode === null ? null : neighbourOf({ parent: parent.parentNode, next: parent.nextSibling });
}

function takesFocus(element: HTMLElement): boolean {
  return element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility({ visibilityProperty: true });
}

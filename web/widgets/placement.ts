/** Places a popover below a place on the screen, or above where there is no room; always inside of the window. */
export function placeBeside(popover: HTMLElement, { left, bottom, top }: DOMRect): void {
  const { width, height } = popover.getBoundingClientRect();
  const isBelow = bottom + height <= innerHeight || top < height;
  popover.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
  popover.style.top = `${Math.max(4, isBelow ? Math.min(bottom + 2, innerHeight - height - 4) : top - height - 2)}px`;
}

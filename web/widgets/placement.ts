/** Places a popover below its anchor, or above where there is no room; always inside of the window. */
export function placeBeside(popover: HTMLElement, anchor: HTMLElement): void {
  const { left, bottom, top } = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const isBelow = bottom + height <= innerHeight || top < height;
  popover.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
  popover.style.top = `${Math.max(4, isBelow ? Math.min(bottom + 2, innerHeight - height - 4) : top - height - 2)}px`;
}

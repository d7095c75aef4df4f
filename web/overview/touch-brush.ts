/** A stretch that a finger draws, in pixels from the left edge of the element. */
interface DrawnStretch {
  readonly left: number;
  readonly width: number;
}

interface TouchBrushOptions {
  /** The finger has moved. `at` is where it is. */
  readonly onDraw: (stretch: DrawnStretch, at: number) => void;
  /** The finger has left the screen. */
  readonly onDrawn: (stretch: DrawnStretch) => void;
  /** The browser has taken the finger for something else, such as scrolling. */
  readonly onGivenUp: () => void;
}

/** A finger that moves less than this is a tap, which browsers turn into a click. */
const SLOP_PX = 8;

/**
 * Lets a finger draw a stretch over an element by moving to the side. Its style has to have `touch-action: pan-y`: the browser then scrolls
 * by fingers that move up or down, and leaves the others to the page.
 */
export function brushByTouch(element: HTMLElement, { onDraw, onDrawn, onGivenUp }: TouchBrushOptions): void {
  let drawing: { readonly pointerId: number; readonly from: number; readonly stretch: DrawnStretch | null } | null = null;
  const placeOf = ({ clientX }: PointerEvent): number => {
    const { left, width } = element.getBoundingClientRect();
    return Math.min(width, Math.max(0, clientX - left));
  };
  element.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch' || !event.isPrimary) return;
    drawing = { pointerId: event.pointerId, from: placeOf(event), stretch: null };
  });
  element.addEventListener('pointermove', (event) => {
    if (drawing?.pointerId !== event.pointerId) return;
    const at = placeOf(event);
    const stretch = { left: Math.min(drawing.from, at), width: Math.abs(at - drawing.from) };
    if (drawing.stretch === null && stretch.width < SLOP_PX) return;
    drawing = { ...drawing, stretch };
    onDraw(stretch, at);
  });
  const ended = (event: PointerEvent): void => {
    if (drawing?.pointerId !== event.pointerId) return;
    const { stretch } = drawing;
    drawing = null;
    if (stretch === null) return;
    if (event.type === 'pointerup' && stretch.width >= SLOP_PX) onDrawn(stretch);
    else onGivenUp();
  };
  element.addEventListener('pointerup', ended);
  element.addEventListener('pointercancel', ended);
}

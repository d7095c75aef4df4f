import { useLayoutEffect } from 'preact/hooks';

/** The class of the body while an event is open; the styles say at which widths the page makes room for it. */
const MAKES_ROOM = 'makes-room';

/** Makes room for the event beside the page, as long as the event is drawn. */
export function useSpaceForEvent(): void {
  useLayoutEffect(() => {
    keepingTable(() => document.body.classList.add(MAKES_ROOM));
    return () => keepingTable(() => document.body.classList.remove(MAKES_ROOM));
  }, []);
}

/** The table stays where it is in the window, with the line under the mouse: what is above it gets higher on a narrower page. */
function keepingTable(change: () => void): void {
  const table = document.querySelector('.results .grid');
  const before = table?.getBoundingClientRect();
  change();
  if (table === null || before === undefined || before.bottom <= 0 || before.top >= innerHeight) return;
  scrollBy({ top: table.getBoundingClientRect().top - before.top, behavior: 'instant' });
}

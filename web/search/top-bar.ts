import { useEffect, useRef } from 'preact/hooks';
import { askAgain } from '../state/answers.ts';
import { apply, canUndo, explorer, undo } from '../state/explorer.ts';
import { html } from '../widgets/html.ts';
import { SchemeButton } from '../widgets/scheme-button.ts';
import { Help } from './help-dialog.ts';
import { KeyButton } from './key-dialog.ts';
import { ProgressBar } from './progress-bar.ts';
import { SearchLineBox } from './search-line-box.ts';
import { ShareButton } from './share-button.ts';
import { TimePicker, TimeSteps } from './time-picker.ts';
import { ZonePicker } from './zone-picker.ts';

function AutoRefresh() {
  const { isRefreshing, range } = explorer.value;
  return html`<button
    title="Search again every 10 s (a)"
    data-shortcut="a"
    aria-pressed=${isRefreshing}
    disabled=${range.kind !== 'last'}
    onClick=${() => apply({ isRefreshing: !isRefreshing }, { replace: true })}
  >
    Auto
  </button>`;
}

/**
 * Keeps what gets the focus from under the bar, which stays at the top of the window where there is room for it. A bar of many conditions
 * scrolls with the page, which it would cover.
 */
function useRoomBelow() {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = bar.current;
    if (element === null) return;
    const changed = (): void => {
      element.toggleAttribute('data-tall', element.offsetHeight > innerHeight / 2);
      const isSticky = getComputedStyle(element).position === 'sticky';
      // The ring around what has the focus needs some room, too.
      document.documentElement.style.scrollPaddingTop = isSticky ? `calc(${element.offsetHeight}px + 0.5rem)` : '';
    };
    const observer = new ResizeObserver(changed);
    observer.observe(element);
    addEventListener('resize', changed);
    return () => {
      observer.disconnect();
      removeEventListener('resize', changed);
    };
  }, []);
  return bar;
}

interface TopBarProps {
  /** Buttons of panels, beside those of the search. */
  readonly children?: unknown;
}

/** Zones, time and conditions, and what concerns the whole page. */
export function TopBar({ children }: TopBarProps) {
  const bar = useRoomBelow();
  return html`<header class="top" ref=${bar}>
    <div class="top-line">
      <h1>shieldlog</h1>
      <${ZonePicker} />
      <${TimePicker} />
      <${TimeSteps} />
      <button title="Search again, up to now (r)" data-shortcut="r" onClick=${askAgain}>Refresh</button>
      <${AutoRefresh} />
      ${children}
      <${ShareButton} />
      <span class="spacer" />
      <button
        class="quiet"
        title="Take the last change back (u)"
        data-shortcut="u"
        disabled=${!canUndo.value}
        onClick=${undo}
      >
        Undo
      </button>
      <${KeyButton} />
      <${SchemeButton} />
      <${Help} />
    </div>
    <${SearchLineBox} />
    <${ProgressBar} />
  </header>`;
}

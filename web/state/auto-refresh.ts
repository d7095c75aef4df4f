import { effect } from '@preact/signals';
import { askAgain, progress } from './answers.ts';
import { explorer } from './explorer.ts';

const PAUSE_MS = 10_000;
/** Somebody who is in the middle of something is not disturbed for so long. */
const BUSY_MS = 1_000;

/**
 * Asks again some time after each answer, as long as that is turned on or the page is live, somebody looks, and nothing is open or held.
 * The table of a live page is not that of the answer, so it holds nothing back.
 */
export function startAutoRefresh(): void {
  effect(() => {
    const { isRefreshing, isLive, range } = explorer.value;
    if (!(isRefreshing || isLive) || range.kind !== 'last' || progress.value.kind !== 'idle') return;
    let timer = setTimeout(refresh, PAUSE_MS);
    function refresh(): void {
      if (isAway(isLive)) timer = setTimeout(refresh, BUSY_MS);
      else askAgain();
    }
    return () => clearTimeout(timer);
  });
}

function isAway(isLive: boolean): boolean {
  const held = ':popover-open, dialog[open], main :active';
  return document.hidden || document.querySelector(isLive ? held : `${held}, [data-held]`) !== null;
}

import { effect } from '@preact/signals';
import { askAgain, progress } from './answers.ts';
import { explorer } from './explorer.ts';

const PAUSE_MS = 10_000;
/** Somebody who is in the middle of something is not disturbed for so long. */
const BUSY_MS = 1_000;

/** Asks again some time after each answer, as long as that is turned on, somebody looks, and nothing is open or held. */
export function startAutoRefresh(): void {
  effect(() => {
    const { isRefreshing, range } = explorer.value;
    if (!isRefreshing || range.kind !== 'last' || progress.value.kind !== 'idle') return;
    let timer = setTimeout(refresh, PAUSE_MS);
    function refresh(): void {
      if (isAway()) timer = setTimeout(refresh, BUSY_MS);
      else askAgain();
    }
    return () => clearTimeout(timer);
  });
}

function isAway(): boolean {
  return document.hidden || document.querySelector(':popover-open, dialog[open], [data-held], main :active') !== null;
}

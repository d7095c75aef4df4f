import type { GroupDimension } from '../../query/event-fields.ts';
import type { Layer } from './stacked-bars.ts';

/** Actions have colours of their own, as everywhere on the page. */
const ACTIONS = new Set(['blocked', 'challenged', 'logged', 'allowed']);

/** The series whose colours are least like those of the usual actions and of what is left over: of events without an action, and others. */
const NO_ACTION = 10;
const UNUSUAL_ACTIONS = [5, 12, 4, 3, 6];

/** The name of the custom property of a layer's colour. */
export function colorOf({ value, isOther }: Layer, index: number, by: GroupDimension | null): string {
  if (isOther) return '--other';
  const action = value?.toLowerCase() ?? '';
  if (by !== 'action') return `--series-${(index % 12) + 1}`;
  if (ACTIONS.has(action)) return `--${action}`;
  return `--series-${action === '' ? NO_ACTION : UNUSUAL_ACTIONS[index % UNUSUAL_ACTIONS.length]}`;
}

/** The colour itself, in the scheme that is shown. */
export function cssColor(name: string): string {
  if (probe === undefined) {
    probe = document.createElement('span');
    // Else a browser with forced colours tells one colour for all.
    probe.style.setProperty('forced-color-adjust', 'none');
  }
  if (!probe.isConnected) document.head.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** A computed colour is one that a canvas understands, while a custom property still says `light-dark(…)`. */
let probe: HTMLSpanElement | undefined;

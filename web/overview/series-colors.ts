import type { GroupDimension } from '../../query/event-fields.ts';
import type { Layer } from './stacked-bars.ts';

/** Actions have colours of their own, as everywhere on the page. */
const ACTIONS = new Set(['blocked', 'challenged', 'logged', 'allowed']);

/** The name of the custom property of a layer's colour. */
export function colorOf({ value, isOther }: Layer, index: number, by: GroupDimension | null): string {
  if (isOther) return '--other';
  const action = value?.toLowerCase() ?? '';
  if (by === 'action' && ACTIONS.has(action)) return `--${action}`;
  return `--series-${(index % 12) + 1}`;
}

/** The colour itself, in the scheme that is shown. */
export function cssColor(name: string): string {
  probe ??= document.createElement('span');
  if (!probe.isConnected) document.head.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** A computed colour is one that a canvas understands, while a custom property still says `light-dark(…)`. */
let probe: HTMLSpanElement | undefined;

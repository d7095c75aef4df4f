import { bucketStart } from '../../query/buckets.ts';
import type { Window } from '../api/explore.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { countText, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { shownLabels, timeTicks } from './time-axis.ts';

const HEIGHT = 20;
const MOST_TICKS = 4;

interface AxisProps {
  readonly window: Window;
  readonly clock: ExplorerState['clock'];
}

/** The axis that all sparklines of a table share, as the head of their column. */
export function SparklineAxis({ window, clock }: AxisProps) {
  const ticks = timeTicks(window, clock, MOST_TICKS);
  const shown = shownLabels(ticks);
  return html`<div class="axis" title=${`From ${timeText(window.from, clock)} to ${timeText(window.to, clock)}`}>
    <span class="spoken">Over time</span>
    ${ticks.map(
      (tick) => html`<span aria-hidden="true" style=${{ left: `${tick.at * 100}%` }}>${shown.has(tick) ? tick.label : ''}</span>`,
    )}
  </div>`;
}

interface SparklineProps extends AxisProps {
  readonly counts: readonly number[];
  /** Gets what is under the pointer, or null. */
  readonly onPoint: (words: string | null) => void;
}

/** The events of a group over the window, as high as its own highest bar, whose count stands beside it. */
export function Sparkline({ counts, window, clock, onPoint }: SparklineProps) {
  const startOf = (bucket: number): string => timeText(bucketStart({ ...window, buckets: counts.length }, bucket), clock);
  const peak = Math.max(0, ...counts);
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / Math.max(1, peak)) * HEIGHT));
  const path = counts.map((count, x) => (count === 0 ? '' : `M${x} ${HEIGHT}v${-heightOf(count)}h.85v${heightOf(count)}z`)).join('');
  const pointed = (event: PointerEvent): void => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const index = Math.min(counts.length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * counts.length)));
    onPoint(`${startOf(index)} to ${startOf(index + 1)}: ${countText(counts[index] ?? 0)}`);
  };
  return html`<div class="sparkline">
    <svg
      viewBox=${`0 0 ${counts.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${`Highest at ${startOf(counts.indexOf(peak))}: ${countText(peak)}`}
      onPointerMove=${pointed}
      onPointerLeave=${() => onPoint(null)}
    >
      ${timeTicks(window, clock, MOST_TICKS).map(({ at }) => {
        const x = at * counts.length;
        return html`<line class="tick" x1=${x} x2=${x} y1="0" y2=${HEIGHT} vector-effect="non-scaling-stroke" />`;
      })}
      <path d=${path} />
    </svg>
    <small title="The highest bar">${countText(peak)}</small>
  </div>`;
}

import { useMemo } from 'preact/hooks';
import type { HistogramInWindow, Window } from '../api/explore.ts';
import { apply, explorer } from '../state/explorer.ts';
import { shortCount, timeOfDay, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { peaksIn } from './peaks.ts';
import { stretchOf, totalsOf, wholeBuckets } from './stacked-bars.ts';

/** Peaks that are offered. */
const SHOWN = 9;

function timesText(times: number): string {
  return `×${times.toFixed(times < 10 ? 1 : 0)}`;
}

interface PeakListProps {
  readonly histogram: HistogramInWindow;
  /** The one that is searched. */
  readonly window: Window;
}

/** The stretches that stand out, the latest first; a click asks what is different in one. */
export function PeakList({ histogram, window }: PeakListProps) {
  const { clock, comparison } = explorer.value;
  const peaks = useMemo(() => {
    // Bars that the window cuts have fewer events than they would have, and are other ones a moment later.
    const { first, end } = wholeBuckets(histogram, window);
    const strongest = peaksIn(totalsOf(histogram).slice(first, end)).slice(0, SHOWN);
    const whole = strongest.map((peak) => ({ ...peak, ...stretchOf(histogram, window, first + peak.first, first + peak.end) }));
    return whole.toSorted((a, b) => b.from - a.from);
  }, [histogram]);
  if (peaks.length === 0) return null;
  return html`<div class="peaks">
    <span id="peaks-label">Peaks</span>
    <ul aria-labelledby="peaks-label">
      ${peaks.map(({ from, to, times, events }) => {
        const isShown = comparison?.kind === 'time' && comparison.from < to && comparison.to > from;
        return html`<li key=${from}>
          <button
            class="peak"
            aria-pressed=${isShown}
            title=${`${timeText(from, clock)} to ${timeText(to, clock)}: what is different?`}
            onClick=${() => apply({ comparison: isShown ? null : { kind: 'time', from, to } })}
          >
            ${timeOfDay(from, clock, 5)} <span class="times">${times === null ? shortCount(events) : timesText(times)}</span>
          </button>
        </li>`;
      })}
    </ul>
  </div>`;
}

import { useMemo } from 'preact/hooks';
import type { HistogramInWindow } from '../api/explore.ts';
import { apply, explorer } from '../state/explorer.ts';
import { shortCount, timeOfDay, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { peaksIn } from './peaks.ts';
import { stretchOf, totalsOf } from './stacked-bars.ts';

/** Peaks that are offered. */
const SHOWN = 9;

function timesText(times: number): string {
  return `×${times.toFixed(times < 10 ? 1 : 0)}`;
}

interface PeakListProps {
  readonly histogram: HistogramInWindow;
}

/** The stretches that stand out, the latest first; a click asks what is different in one. */
export function PeakList({ histogram }: PeakListProps) {
  const { clock, comparison } = explorer.value;
  const peaks = useMemo(() => {
    const strongest = peaksIn(totalsOf(histogram)).slice(0, SHOWN);
    return strongest.map((peak) => ({ ...peak, ...stretchOf(histogram, peak.first, peak.end) })).toSorted((a, b) => b.from - a.from);
  }, [histogram]);
  if (peaks.length === 0) return null;
  return html`<div class="peaks">
    <span id="peaks-label">Peaks</span>
    <ul aria-labelledby="peaks-label">
      ${peaks.map(({ from, to, times, events }) => {
        const isShown = comparison?.kind === 'time' && comparison.from < to && comparison.to > from;
        return html`<li key=${from}>
          <button
            type="button"
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

import { useRef } from 'preact/hooks';
import type { Window } from '../api/explore.ts';
import { SparklineAxis } from '../groups/sparkline.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { countText, numberOf, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';

interface ThresholdPlotProps {
  /** The events of windows one after the other. */
  readonly totals: readonly number[];
  /** From the begin of the first window to that of the last one. */
  readonly window: Window;
  readonly clock: ExplorerState['clock'];
  readonly threshold: number;
  /** What the threshold means, for screen readers. */
  readonly words: string;
  readonly onThreshold: (threshold: number) => void;
}

/** A screen shows no more bars; each is as high as the highest window in it. */
const MOST_BARS = 432;

/** Windows as bars, and a threshold over them that the mouse, a finger or the keyboard moves. */
export function ThresholdPlot({ totals, window, clock, threshold, words, onThreshold }: ThresholdPlotProps) {
  const plot = useRef<HTMLDivElement>(null);
  const bars = barsOf(totals);
  const peak = Math.max(0, ...bars);
  const top = Math.max(10, Math.ceil(peak * 1.1));
  const set = (value: number): void => onThreshold(Math.min(top, Math.max(1, Math.round(value))));
  const moveTo = ({ clientY }: MouseEvent): void => {
    const { bottom = 0, height = 1 } = plot.current?.getBoundingClientRect() ?? {};
    set(((bottom - clientY) / height) * top);
  };
  const pressed = (event: PointerEvent): void => (event.currentTarget as Element).setPointerCapture(event.pointerId);
  const dragged = (event: PointerEvent): void => {
    if ((event.currentTarget as Element).hasPointerCapture(event.pointerId)) moveTo(event);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const [step, leap] = [Math.max(1, Math.round(top / 100)), Math.max(1, Math.round(top / 10))];
    const targets: Readonly<Record<string, number>> = {
      ...{ ArrowUp: threshold + step, ArrowRight: threshold + step, ArrowDown: threshold - step, ArrowLeft: threshold - step },
      ...{ PageUp: threshold + leap, PageDown: threshold - leap, Home: 1, End: top },
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    set(target);
  };
  const path = (isHit: boolean): string =>
    bars.map((count, x) => (count > 0 && count >= threshold === isHit ? `M${x} ${top}v${-count}h.9v${count}z` : '')).join('');
  return html`<div class="threshold-plot">
    <div class="threshold-bars" ref=${plot} onClick=${moveTo}>
      <svg
        viewBox=${`0 0 ${bars.length} ${top}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${`The highest window of ${timeText(window.from, clock)} to ${timeText(window.to, clock)} has ${numberOf(peak)}`}
      >
        <path d=${path(false)} />
        <path class="hit" d=${path(true)} />
      </svg>
      <div
        class="threshold"
        style=${{ bottom: `${Math.min(100, (threshold / top) * 100)}%` }}
        tabindex="0"
        role="slider"
        aria-label="Threshold"
        aria-orientation="vertical"
        aria-valuemin="1"
        aria-valuemax=${Math.max(top, threshold)}
        aria-valuenow=${threshold}
        aria-valuetext=${words}
        onKeyDown=${onKeyDown}
        onPointerDown=${pressed}
        onPointerMove=${dragged}
      >
        <span>${countText(threshold)}</span>
      </div>
    </div>
    <${SparklineAxis} window=${window} clock=${clock} />
  </div>`;
}

function barsOf(totals: readonly number[]): readonly number[] {
  const width = Math.ceil(totals.length / MOST_BARS);
  return Array.from({ length: Math.ceil(totals.length / width) }, (_, bar) => Math.max(...totals.slice(bar * width, (bar + 1) * width)));
}

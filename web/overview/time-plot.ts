import uPlot from 'uplot';
import { bucketStart } from '../../query/buckets.ts';
import type { HistogramInWindow, Window } from '../api/explore.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { axisLabels, shareText } from '../widgets/format.ts';
import { cssColor } from './series-colors.ts';
import { heightsOf, type Layer, nearestBucket, stretchOf, wholeBuckets } from './stacked-bars.ts';
import { brushByTouch } from './touch-brush.ts';

export interface TimePlotOptions {
  readonly histogram: HistogramInWindow;
  /** The one that is searched, as long as which the axis is. */
  readonly window: Window;
  readonly layers: readonly Layer[];
  /** The name of the custom property of each layer's colour. */
  readonly colors: readonly string[];
  readonly clock: ExplorerState['clock'];
  /** Of each bar, from 0 to 1, drawn as a line with an axis of its own; null: there is none. */
  readonly shares: readonly (number | null)[] | null;
  /** The stretch that is compared, which is marked. */
  readonly marked: Window | null;
  readonly onHover: (bucket: number | null) => void;
  /** A stretch was drawn, or a bar clicked, at this place on the screen. */
  readonly onBrush: (stretch: Window, place: DOMRect) => void;
}

/** The histogram on the screen. */
export interface TimePlot {
  /** Marks a stretch of buckets as if it was drawn. */
  readonly select: (first: number, end: number) => void;
  /** Where the marked stretch is on the screen. */
  readonly place: () => DOMRect;
  readonly clear: () => void;
  /** Draws a band at the top of each of these stretches, in place of those before. What is being drawn by hand stays. */
  readonly markAlerts: (alerts: readonly Window[]) => void;
  readonly destroy: () => void;
}

const HEIGHT = 160;
/** The height of the band of an alert. */
const BAND = 5;

/** Distances between marks of the axis of counts: there is no half event. */
const COUNT_STEPS = [1, 2, 5].flatMap((digit) => Array.from({ length: 10 }, (_, power) => digit * 10 ** power)).toSorted((a, b) => a - b);

/** Draws bars that stand on each other, the lowest layer at the bottom. */
export function drawTimePlot(element: HTMLElement, options: TimePlotOptions): TimePlot {
  const { histogram, window, layers, colors, shares, onHover, onBrush } = options;
  const heights = heightsOf(layers);
  const starts = Array.from({ length: histogram.buckets }, (_, bucket) => bucketStart(histogram, bucket) / 1000);
  // The highest reaches are drawn first, so that the lower layers cover them.
  const order = layers.map((_, index) => layers.length - 1 - index);
  const isMarkInside = options.marked !== null && options.marked.from < window.to && options.marked.to > window.from;
  let alerts: readonly Window[] = [];
  const timeAt = (plot: uPlot, px: number): number => plot.posToVal(px, 'x') * 1000;

  const brushed = (plot: uPlot): void => {
    const { left, width } = plot.select;
    if (width === 0) return;
    const [first, last] = [left, left + width - 1].map((px) => nearestBucket(histogram, timeAt(plot, px)));
    // Later, because browsers close what opens while the button of the mouse goes up.
    setTimeout(() => onBrush(stretchOf(histogram, window, first ?? 0, (last ?? 0) + 1), placeOf(plot)));
  };
  const clicked = (plot: uPlot): void => {
    const { left = -1 } = plot.cursor;
    if (left < 0 || plot.select.width > 0) return;
    const bucket = nearestBucket(histogram, timeAt(plot, left));
    select(plot, bucket, bucket + 1);
    onBrush(stretchOf(histogram, window, bucket, bucket + 1), placeOf(plot));
  };
  // uPlot knows the mouse alone, and the clicks that browsers make of taps.
  const byTouch = (plot: uPlot): void =>
    brushByTouch(plot.over, {
      onDraw: (stretch, at) => {
        plot.setSelect({ ...stretch, top: 0, height: plot.over.clientHeight }, false);
        onHover(nearestBucket(histogram, timeAt(plot, at)));
      },
      onDrawn: () => brushed(plot),
      onGivenUp: () => {
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        onHover(null);
      },
    });
  const select = (plot: uPlot, first: number, end: number): void => {
    const { from, to } = stretchOf(histogram, window, first, end);
    const [left = 0, right = 0] = [from, to].map((time) => plot.valToPos(time / 1000, 'x'));
    plot.setSelect({ left, width: right - left, top: 0, height: plot.over.clientHeight }, false);
  };

  const plot = new uPlot(
    {
      width: Math.max(200, element.clientWidth),
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => null } },
      scales: {
        x: { time: true, range: () => [window.from / 1000, window.to / 1000] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
        share: { range: () => [0, 1] },
      },
      axes: [
        axis({
          values: (_plot, splits, _axis, _space, step) => axisLabels(splits, step, options.clock),
          size: 44,
        }),
        axis({ values: (_plot, splits) => splits.map(countLabel), size: 48, incrs: COUNT_STEPS }),
        ...(shares === null ? [] : [shareAxis()]),
      ],
      series: [{}, ...order.map((layer) => barSeries(colors[layer] ?? '--other')), ...(shares === null ? [] : [shareSeries()])],
      ...(options.clock === 'utc' ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
      hooks: {
        setCursor: [(self) => onHover((self.cursor.left ?? -1) < 0 ? null : nearestBucket(histogram, timeAt(self, self.cursor.left ?? 0)))],
        setSelect: [brushed],
        ready: [(self) => self.over.addEventListener('click', () => clicked(self)), byTouch],
        drawClear: [(self) => mark(self, isMarkInside ? options.marked : null)],
        draw: [
          (self) => cutBars(histogram, window).map((bar) => shade(self, bar, '--panel', 0.55)),
          (self) => alerts.map((alert) => shade(self, alert, '--danger', 1, BAND)),
        ],
      },
    },
    [starts, ...order.map((layer) => [...(heights[layer] ?? [])]), ...(shares === null ? [] : [[...shares]])],
    element,
  );
  const resizing = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }));
  resizing.observe(element);
  const schemes = matchMedia('(prefers-color-scheme: dark)');
  const repaint = (): void => plot.redraw();
  schemes.addEventListener('change', repaint);
  const choice = new MutationObserver(repaint);
  choice.observe(document.documentElement, { attributeFilter: ['data-scheme'] });

  return {
    select: (first, end) => select(plot, first, end),
    place: () => placeOf(plot),
    clear: () => plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false),
    markAlerts: (marked) => {
      alerts = marked;
      plot.redraw(false);
    },
    destroy: () => {
      resizing.disconnect();
      schemes.removeEventListener('change', repaint);
      choice.disconnect();
      plot.destroy();
    },
  };
}

function placeOf(plot: uPlot): DOMRect {
  return plot.over.querySelector('.u-select')?.getBoundingClientRect() ?? plot.over.getBoundingClientRect();
}

function barSeries(color: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.94], align: 1 });
  return { fill: () => cssColor(color), width: 0, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
}

/** A step as wide as its bar; none where the bar has no events. */
function shareSeries(): uPlot.Series {
  const paths = uPlot.paths.stepped?.({ align: 1, extend: true });
  const line = { scale: 'share', stroke: () => cssColor('--text'), width: 2, points: { show: false } };
  return { ...line, ...(paths === undefined ? {} : { paths }) };
}

function shareAxis(): uPlot.Axis {
  const values = (_plot: uPlot, splits: readonly number[]): string[] => splits.map((share) => shareText(share, 1));
  return { ...axis({ values, size: 48 }), scale: 'share', side: 1, grid: { show: false } };
}

function axis(own: Pick<uPlot.Axis, 'values' | 'size' | 'incrs'>): uPlot.Axis {
  const font = '12px system-ui, sans-serif';
  const line = { stroke: () => cssColor('--line'), width: 1 };
  return { ...own, font, stroke: () => cssColor('--dim'), grid: line, ticks: { ...line, size: 4 } };
}

/** Shades the stretch that is compared with the rest. */
function mark(plot: uPlot, marked: Window | null): void {
  if (marked !== null) shade(plot, marked, '--bar-selected', 0.22);
}

/** The time of the bars that the window cuts, as far as it is in the window. They are drawn paler: they would be higher as a whole. */
function cutBars(histogram: HistogramInWindow, window: Window): readonly Window[] {
  const { first, end } = wholeBuckets(histogram, window);
  const { buckets } = histogram;
  return [stretchOf(histogram, window, 0, first), stretchOf(histogram, window, end, buckets)].filter(({ from, to }) => from < to);
}

/** Covers a stretch of time with a colour, of which so much is seen, from the top on, `height` CSS pixels high. */
function shade(plot: uPlot, { from, to }: Window, color: string, alpha: number, height = Number.POSITIVE_INFINITY): void {
  const { ctx, bbox } = plot;
  // What is outside of the window would be painted over the axes.
  const within = (px: number): number => Math.min(bbox.left + bbox.width, Math.max(bbox.left, px));
  const [left = 0, right = 0] = [from, to].map((time) => within(plot.valToPos(time / 1000, 'x', true)));
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.fillStyle = cssColor(color);
  ctx.fillRect(left, bbox.top, Math.max(2, right - left), Math.min(bbox.height, height * devicePixelRatio));
  ctx.restore();
}

function countLabel(count: number): string {
  return new Intl.NumberFormat('en-GB', { notation: 'compact' }).format(count).toLowerCase();
}

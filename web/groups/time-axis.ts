import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import type { Window } from '../api/explore.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { aheadOfUtc, offsetText } from '../widgets/wall-clock.ts';

/** A mark of an axis. */
export interface TimeTick {
  /** From 0, the begin of the window, to 1, its end. */
  readonly at: number;
  /** `12:30`, or at midnight `24 Nov`; with the offset where the clock shows that time twice. */
  readonly label: string;
}

/** The letters that an axis of the least width of its column has room for. */
const AXIS_LETTERS = 24;
/** The line of a mark and the space around its label, in letters. */
const LABEL_SPACE = 0.9;
/** Behind this place of the axis there is no room for a label. */
const LAST_LABEL = 0.85;

/** Distances between marks: those of a clock face. */
const STEPS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  DAY_MS,
];

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Round times of a window, at most `most` of them and as many as that allows, by the clock that is chosen. */
export function timeTicks({ from, to }: Window, clock: ExplorerState['clock'], most: number): readonly TimeTick[] {
  const step = STEPS_MS.find((ms) => (to - from) / ms <= most) ?? DAY_MS * Math.ceil((to - from) / DAY_MS / most);
  const ticks: TimeTick[] = [];
  // A day begins at another time where the clocks change, so each mark has a shift of its own.
  for (let time = nextRound(from, step, clock); time < to; time = nextRound(time + 1, step, clock)) {
    ticks.push({ at: (time - from) / (to - from), label: tickLabel(time, step, clock) });
  }
  return ticks.slice(0, most);
}

/** Those marks, from the left, whose labels neither touch the label before them nor lack room behind them. */
export function shownLabels(ticks: readonly TimeTick[]): ReadonlySet<TimeTick> {
  const shown = new Set<TimeTick>();
  let free = 0;
  for (const tick of ticks) {
    if (tick.at < free || tick.at > LAST_LABEL) continue;
    shown.add(tick);
    free = tick.at + (tick.label.length + LABEL_SPACE) / AXIS_LETTERS;
  }
  return shown;
}

/** The clock may be put on or back before it shows the next round time, or over that. */
function nextRound(time: number, step: number, clock: ExplorerState['clock']): number {
  const shift = aheadOfUtc(time, clock);
  const shown = Math.ceil((time + shift) / step) * step;
  const next = shown - shift;
  const isRound = (ms: number): boolean => (ms + aheadOfUtc(ms, clock)) % step === 0;
  return [next, shown - aheadOfUtc(next, clock)].find(isRound) ?? nextRound(next, step, clock);
}

function tickLabel(time: number, step: number, clock: ExplorerState['clock']): string {
  const shifted = new Date(time + aheadOfUtc(time, clock));
  const text = shifted.toISOString().slice(11, step < MINUTE_MS ? 19 : 16);
  return `${/^00:00(:00)?$/.test(text) ? `${shifted.getUTCDate()} ${MONTHS[shifted.getUTCMonth()]}` : text}${offsetText(time, clock)}`;
}

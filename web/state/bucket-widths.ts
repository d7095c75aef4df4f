import type { Window } from '../api/explore.ts';

/** Widths of bars that people read easily, in seconds. All divide the hour, so that bars begin at times that a clock face has. */
const WIDTHS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800];
const MOST_BARS = 180;

/**
 * How many milliseconds a bar of the histogram is wide: the least with which a window of this length has at most 180 bars, two that it cuts
 * included. Windows of the same length have the same width, wherever they begin.
 */
export function barWidth({ from, to }: Window): number {
  const widest = WIDTHS_S.at(-1) ?? 0;
  return 1_000 * (WIDTHS_S.find((seconds) => Math.ceil((to - from) / (1_000 * seconds)) < MOST_BARS) ?? widest);
}

import { median, percentile } from '../report/figures.ts';
import { geometricMean } from '../report/race-summary.ts';

/** What one side spent in a turn. */
export interface Spent {
  readonly wallMs: number;
  /** Processor time of all threads; undefined where the system does not tell. */
  readonly cpuMs: number | undefined;
}

/** Both sides of a turn, which ran one right after the other. */
export interface Pair {
  readonly before: Spent;
  readonly after: Spent;
}

export interface Ratio {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export type Measure = keyof Spent;

/** How many times what `before` spent `after` did, of each pair; empty where that is not known. */
export function ratiosOf(pairs: readonly Pair[], measure: Measure): readonly number[] {
  const ratios = pairs.map(({ before, after }) => (after[measure] ?? Number.NaN) / (before[measure] ?? Number.NaN));
  return ratios.filter(Number.isFinite);
}

/** Undefined where there are no ratios. */
export function ratioOf(ratios: readonly number[]): Ratio | undefined {
  if (ratios.length === 0) return undefined;
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

export interface GroupMean {
  /** The geometric mean of the rows' medians. */
  readonly mean: number;
  /** Half the distance between the quartiles of the turns' geometric means: how far the mean of one turn is off. */
  readonly spread: number;
}

/** Of rows with equally many pairs; undefined where nothing is known of one. */
export function groupMean(rows: readonly (readonly Pair[])[], measure: Measure): GroupMean | undefined {
  const ratios = rows.map((pairs) => ratiosOf(pairs, measure));
  const turns = rows[0]?.length ?? 0;
  if (turns === 0 || ratios.some(({ length }) => length !== turns)) return undefined;
  const ofTurns = Array.from({ length: turns }, (_, turn) => geometricMean(ratios.map((ofRow) => ofRow[turn] as number)));
  return {
    mean: geometricMean(ratios.map(median)),
    spread: (percentile(ofTurns, 0.75) - percentile(ofTurns, 0.25)) / 2,
  };
}

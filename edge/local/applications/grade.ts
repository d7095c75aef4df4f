import type { StatusGrade } from '../../schemas/application.ts';

export interface Graded {
  readonly indicator: number;
  /** Null where there is nothing to grade. */
  readonly statusGrade: StatusGrade | null;
}

function graded(indicator: number, great: number, fair: number): Graded {
  if (indicator <= great) return { indicator, statusGrade: 'doingGreat' };
  return { indicator, statusGrade: indicator <= fair ? 'notBad' : 'couldBeBetter' };
}

/** Latency against its target: up to it is great, up to twice of it not bad. */
export function gradeLatency(latencyMs: number | null, targetMs: number): Graded {
  return latencyMs === null ? { indicator: 0, statusGrade: null } : graded(latencyMs, targetMs, 2 * targetMs);
}

/** How much of something is used, in per cent. */
export function gradeUsage(usedPercent: number): Graded {
  return graded(usedPercent, 60, 85);
}

/** How many there are, of which one is as many as wanted. */
export function gradeCount(count: number): Graded {
  return { indicator: count, statusGrade: count >= 1 ? 'doingGreat' : 'couldBeBetter' };
}

import type { EngineName } from '../engines/engine.ts';
import { percentile } from './percentile.ts';
import type { IntakeFigures, MixedFigures, SizeFigures, WorkloadFigures } from './race-result.ts';

/** Added to both times before they are divided, as ClickBench does: a difference of a millisecond in two is no difference. */
const SLACK_MS = 10;

export type Temperature = 'hotMs' | 'coldMs' | 'rememberedMs';

export function medianMs(workload: WorkloadFigures, engine: EngineName, temperature: Temperature): number {
  return percentile(workload.engines[engine]?.[temperature] ?? [], 0.5);
}

/** How many times as fast as the rival the engine is on one workload; below 1 it is slower. NaN where one of them was not timed. */
export function timesAsFast(workload: WorkloadFigures, engine: EngineName, rival: EngineName, temperature: Temperature): number {
  return (SLACK_MS + medianMs(workload, rival, temperature)) / (SLACK_MS + medianMs(workload, engine, temperature));
}

/** Over all workloads that both were timed on. */
export function geometricMean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return Math.exp(known.reduce((sum, value) => sum + Math.log(value), 0) / known.length);
}

interface Slowdown {
  /** By the times of all turns. */
  readonly all: number;
  readonly byTurn: readonly number[];
}

/** How many times as long as alone searches take beside the intake, by the 95th percentile. NaN where none were made alone. */
export function slowdown({ turns }: MixedFigures): Slowdown {
  const ratio = (some: MixedFigures['turns']) => {
    const p95 = (of: 'aloneMs' | 'besideMs') =>
      percentile(
        some.flatMap((turn) => turn[of]),
        0.95,
      );
    return p95('besideMs') / p95('aloneMs');
  };
  return { all: ratio(turns), byTurn: turns.map((turn) => ratio([turn])) };
}

/**
 * The same as a text, with what it is turn by turn where there are several; empty where it is not known. `factor` writes the whole, `ratio`
 * a turn.
 */
export function slowdownText(figures: MixedFigures, factor: (value: number) => string, ratio: (value: number) => string): string {
  const { all, byTurn } = slowdown(figures);
  const turns = byTurn.length > 1 ? ` (${byTurn.map(ratio).join(', ')})` : '';
  return Number.isNaN(all) ? '' : `${factor(all)}${turns}`;
}

/** How many cores an intake kept busy on average, until every event was searchable. */
export function coresBusy({ cpuMs, elapsedMs }: IntakeFigures['runs'][number]): number {
  return cpuMs / elapsedMs;
}

/** Over all turns, each of which took in as many. */
export function eventsPerSecond({ turns }: MixedFigures): number {
  return turns.length / turns.reduce((seconds, turn) => seconds + 1 / turn.eventsPerSecond, 0);
}

/** By which power of the number of events the time of a workload grows (1: in proportion); the slope of the line through the logarithms. */
export function growthExponent(sizes: readonly SizeFigures[], name: string, engine: EngineName): number {
  const points = sizes.flatMap(({ events, workloads }) => {
    const workload = workloads.find((candidate) => candidate.name === name);
    return workload === undefined ? [] : [{ x: Math.log(events), y: Math.log(medianMs(workload, engine, 'hotMs')) }];
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const spread = points.reduce((sum, { x }) => sum + (x - middleX) ** 2, 0);
  return points.reduce((sum, { x, y }) => sum + (x - middleX) * (y - middleY), 0) / spread;
}

import type { EngineName } from '../engines/engine.ts';
import { percentile } from './figures.ts';
import type {
  FloorFigures,
  IntakeFigures,
  LookFigures,
  MixedFigures,
  QuestionFigures,
  SizeFigures,
  WorkloadFigures,
} from './race-result.ts';

/** Added to both times before they are divided, as in ClickBench, so that a difference of 1 ms in 2 ms counts little. */
const SLACK_MS = 10;

export type Temperature = 'hotMs' | 'coldMs' | 'rememberedMs';

export function medianMs(workload: WorkloadFigures, engine: EngineName, temperature: Temperature): number {
  return percentile(workload.engines[engine]?.[temperature] ?? [], 0.5);
}

/** The speed of the engine on one workload as a multiple of the rival's. NaN if one of them was not timed. */
export function timesAsFast(workload: WorkloadFigures, engine: EngineName, rival: EngineName, temperature: Temperature): number {
  return speedRatio(medianMs(workload, engine, temperature), medianMs(workload, rival, temperature));
}

function speedRatio(ms: number, rivalMs: number): number {
  return (SLACK_MS + rivalMs) / (SLACK_MS + ms);
}

export type Look = keyof LookFigures;

/** The median of one of the looks at a question. NaN if the engine was not asked. */
export function lookMs(question: QuestionFigures, engine: EngineName, look: Look): number {
  return percentile(question.engines[engine]?.[look] ?? [], 0.5);
}

/** The speed of the engine at a look as a multiple of the rival's. NaN if one of them was not asked. */
export function timesAsFastAt(question: QuestionFigures, engine: EngineName, rival: EngineName, look: Look): number {
  return speedRatio(lookMs(question, engine, look), lookMs(question, rival, look));
}

/** What share of the time of the first look the second one takes. */
export function secondShare(question: QuestionFigures, engine: EngineName): number {
  return lookMs(question, engine, 'secondMs') / lookMs(question, engine, 'firstMs');
}

/** The geometric mean of the values that are not NaN. */
export function geometricMean(values: readonly number[]): number {
  const measured = values.filter((value) => !Number.isNaN(value));
  return Math.exp(measured.reduce((sum, value) => sum + Math.log(value), 0) / measured.length);
}

/** The time of our engine as a multiple of the floor. Below 1 our engine has a faster way than those that are written by hand. */
export function timesTheFloor({ oursMs, floorMs }: FloorFigures): number {
  return percentile(oursMs, 0.5) / percentile(floorMs, 0.5);
}

interface Slowdown {
  /** From the times of all turns. */
  readonly all: number;
  readonly byTurn: readonly number[];
}

/** The 95th percentile of searches during the intake as a multiple of that without. NaN if there were none without. */
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

/** The slowdown as a text, with that of each turn if there are several; empty if it is NaN. `factor` writes the whole, `ratio` a turn. */
export function slowdownText(figures: MixedFigures, factor: (value: number) => string, ratio: (value: number) => string): string {
  const { all, byTurn } = slowdown(figures);
  const turns = byTurn.length > 1 ? ` (${byTurn.map(ratio).join(', ')})` : '';
  return Number.isNaN(all) ? '' : `${factor(all)}${turns}`;
}

/** The average number of cores that an intake kept busy until every event was searchable. */
export function coresBusy({ cpuMs, elapsedMs }: IntakeFigures['runs'][number]): number {
  return cpuMs / elapsedMs;
}

/** The intake of all turns, each of which took in the same number of events. */
export function eventsPerSecond({ turns }: MixedFigures): number {
  return turns.length / turns.reduce((seconds, turn) => seconds + 1 / turn.eventsPerSecond, 0);
}

/** The power of the number of events by which the time of a workload grows: the slope of the line through the logarithms. */
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

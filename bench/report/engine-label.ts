import { ENGINE_NAMES, type EngineName } from '../engines/engine.ts';
import type { ByEngine, RaceResult } from './race-result.ts';

export const OURS: EngineName = 'shieldlog';
export const RIVAL: EngineName = 'clickhouse';

/** How people write the engines' names. */
export const ENGINE_LABELS: Readonly<Record<EngineName, string>> = { shieldlog: 'shieldlog', clickhouse: 'ClickHouse' };

/** What is there of each engine, always in the same order. */
export function inOrder<T>(byEngine: ByEngine<T>): { readonly engine: EngineName; readonly label: string; readonly figures: T }[] {
  return ENGINE_NAMES.flatMap((engine) => {
    const figures = byEngine[engine];
    return figures === undefined ? [] : [{ engine, label: ENGINE_LABELS[engine], figures }];
  });
}

/** The engines that have any figure in the result. */
export function enginesOf({ sizes, mixed, concurrency }: RaceResult): EngineName[] {
  const measured = [...sizes.flatMap(({ intake, workloads }) => [intake, ...workloads.map(({ engines }) => engines)]), mixed, concurrency];
  return ENGINE_NAMES.filter((engine) => measured.some((figures) => figures[engine] !== undefined));
}

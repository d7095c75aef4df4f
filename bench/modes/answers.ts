import { isDeepStrictEqual } from 'node:util';
import type { EngineClient } from '../engines/engine-client.ts';
import type { Workload } from './workload.ts';

export interface ComparedAnswer {
  readonly total: number;
  /** In words, one for each engine that answered something else than the first. */
  readonly differences: readonly string[];
}

/** Asks every engine the same and compares the answers value by value. */
export async function compareAnswers(engines: readonly EngineClient[], { name, zone, body }: Workload): Promise<ComparedAnswer> {
  const answers: { readonly engine: string; readonly answer: { readonly total: number } }[] = [];
  for (const engine of engines) {
    const { answer = '' } = await engine.search({ zone, body, withAnswer: true });
    answers.push({ engine: engine.name, answer: JSON.parse(answer) });
  }
  const [first, ...others] = answers;
  const differences = others
    .filter(({ answer }) => !isDeepStrictEqual(answer, first?.answer))
    .map(({ engine, answer }) => `${name}: ${engine} and ${first?.engine} differ ${firstDifference(first?.answer, answer, '$')}`);
  return { total: first?.answer.total ?? 0, differences };
}

/** Where two JSON values differ first, and how. */
function firstDifference(one: unknown, other: unknown, path: string): string {
  if (typeof one === 'object' && typeof other === 'object' && one !== null && other !== null) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const [a, b] = [(one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]];
      if (!isDeepStrictEqual(a, b)) {
        return firstDifference(a, b, `${path}.${key}`);
      }
    }
  }
  return `at ${path}: ${shown(other)}, not ${shown(one)}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}

import { readdir, readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EngineClient } from '../engines/engine-client.ts';

/** One request of operation 1, from a file of the folder `workloads`. */
export interface Workload {
  /** The name of the file without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly zone: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const FOLDER = new URL('workloads/', import.meta.url);

/** All workloads in the order of their names. */
export async function loadWorkloads(): Promise<Workload[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).sort();
  return await Promise.all(
    files.map(async (file) => ({ name: file.slice(0, -'.json'.length), ...JSON.parse(await readFile(new URL(file, FOLDER), 'utf8')) })),
  );
}

export interface ComparedAnswer {
  readonly total: number;
  /** A sentence for each engine whose answer differs from that of the first. */
  readonly differences: readonly string[];
}

/** Runs the workload on every engine and compares the answers value by value. */
export async function compareAnswers(engines: readonly EngineClient[], { name, zone, body }: Workload): Promise<ComparedAnswer> {
  const answers: { readonly engine: string; readonly answer: { readonly total: number } }[] = [];
  for (const engine of engines) {
    const { answer = '' } = await engine.search({ zone, body, withAnswer: true });
    answers.push({ engine: engine.name, answer: JSON.parse(answer) });
  }
  return { total: answers[0]?.answer.total ?? 0, differences: differencesBetween(name, answers) };
}

/** A sentence for each answer that differs from the first. */
export function differencesBetween(name: string, answers: readonly { readonly engine: string; readonly answer: unknown }[]): string[] {
  const [first, ...others] = answers;
  return others
    .filter(({ answer }) => !isDeepStrictEqual(answer, first?.answer))
    .map(({ engine, answer }) => `${name}: ${engine} and ${first?.engine} differ ${firstDifference(first?.answer, answer, '$')}`);
}

/** The path of the first difference of two JSON values, and both values there. */
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

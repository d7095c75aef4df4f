import { EngineClient } from '../engines/engine-client.ts';
import type { FloorFigures } from '../report/race-result.ts';
import type { Question } from './questions.ts';
import { differencesBetween, type Workload } from './workload.ts';

export interface FloorOrder {
  /** The folder of our engine. */
  readonly dataDir: string;
  readonly workloads: readonly Workload[];
  readonly questions: readonly Question[];
  readonly runs: number;
  readonly memoryLimitMb: number;
  readonly onStep: (what: string) => void;
}

interface Asked {
  readonly name: string;
  readonly title: string;
  readonly kind: 'search' | 'explore';
  readonly order: { readonly zone: number; readonly body: object };
}

/** Of an answer, what the floor has, too: everything but logs. */
function withoutLogs(answer: string): { readonly total: number } {
  return JSON.parse(answer, (key, value) => (key === 'log' ? null : value));
}

/**
 * Asks our engine, which remembers nothing, and the floor the same in turns. Their answers are compared first. Of the explorer these are
 * the first looks.
 */
export async function measureFloor(order: FloorOrder): Promise<{ readonly rows: FloorFigures[]; readonly differences: string[] }> {
  const { dataDir, workloads, questions, runs, memoryLimitMb, onStep } = order;
  const asked: Asked[] = [
    ...workloads.map(({ name, title, zone, body }) => ({ name, title, kind: 'search' as const, order: { zone, body } })),
    ...questions.map(({ name, title, zone, first }) => {
      return { name, title: `explorer: ${title}`, kind: 'explore' as const, order: { zone, body: first } };
    }),
  ];
  await using engines = new AsyncDisposableStack();
  const open = async (name: 'shieldlog' | 'floor') =>
    engines.adopt(await EngineClient.open(name, { dataDir, memoryLimitMb }), (engine) => engine.close());
  const [ours, floor] = [await open('shieldlog'), await open('floor')];
  const rows: FloorFigures[] = [];
  const differences: string[] = [];
  for (const { name, title, kind, order: question } of asked) {
    onStep(`floor: ${title}`);
    const [answer, least] = [await ours[kind]({ ...question, withAnswer: true }), await floor[kind]({ ...question, withAnswer: true })];
    const [one, other] = [withoutLogs(answer.answer ?? ''), withoutLogs(least.answer ?? '')];
    differences.push(
      ...differencesBetween(name, [
        { engine: 'shieldlog', answer: one },
        { engine: 'the floor', answer: other },
      ]),
    );
    const times = { oursMs: [] as number[], floorMs: [] as number[] };
    for (let run = 0; run < runs; run += 1) {
      times.oursMs.push((await ours[kind]({ ...question, withAnswer: false })).elapsedMs);
      times.floorMs.push((await floor[kind]({ ...question, withAnswer: false })).elapsedMs);
    }
    rows.push({ name, title, total: one.total, ...times });
  }
  return { rows, differences };
}

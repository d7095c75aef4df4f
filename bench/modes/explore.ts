import type { EngineName } from '../engines/engine.ts';
import type { EngineClient } from '../engines/engine-client.ts';
import type { QuestionFigures } from '../report/race-result.ts';
import type { Question } from './questions.ts';
import { withAll } from './searches.ts';
import { differencesBetween } from './workload.ts';

export interface ExploreRace {
  /** Folders with the same events, by engine. */
  readonly dataDirs: ReadonlyMap<EngineName, string>;
  readonly questions: readonly Question[];
  readonly runs: number;
  readonly memoryLimitMb: number;
  readonly onStep: (what: string) => void;
}

/** The times of an engine, run by run. */
interface Looks {
  readonly firstMs: number[];
  readonly secondMs: number[];
}

/**
 * Asks each question and then the second look, in a new process of each engine for each run: with its default settings nothing that a
 * question needs is remembered there. Both looks at other zones come before and do not count: ClickHouse compiles what it has run three
 * times, and V8 what has run often. The engines take turns, and their answers to all looks are compared.
 */
export async function raceQuestions(race: ExploreRace): Promise<{ questions: QuestionFigures[]; differences: string[] }> {
  const { dataDirs, questions, runs, memoryLimitMb, onStep } = race;
  const figures: QuestionFigures[] = [];
  const differences = new Set<string>();
  for (const question of questions) {
    onStep(`explorer: ${question.title}`);
    const { name, title, zone, otherZones } = question;
    const looks = new Map([...dataDirs.keys()].map((engine) => [engine, { firstMs: [], secondMs: [] } as Looks]));
    let total = 0;
    for (let run = 0; run < runs; run += 1) {
      await withAll({ dataDirs, memoryLimitMb, remembers: true }, async (engines) => {
        for (const other of otherZones) {
          for (const body of [question.first, question.second(run)]) {
            await Promise.all(engines.map((engine) => engine.explore({ zone: other, body, withAnswer: false })));
          }
        }
        const first = await look(engines, { name: `${name}, first look`, zone, body: question.first });
        const second = await look(engines, { name: `${name}, second look`, zone, body: question.second(run) });
        total = first.total;
        for (const [engine, { firstMs, secondMs }] of looks) {
          firstMs.push(first.times.get(engine) as number);
          secondMs.push(second.times.get(engine) as number);
        }
        for (const difference of [...first.differences, ...second.differences]) {
          differences.add(difference);
        }
      });
    }
    figures.push({ name, title, total, engines: Object.fromEntries(looks) });
  }
  return { questions: figures, differences: [...differences] };
}

/** Asks one engine after the other and compares their answers. */
async function look(
  engines: readonly EngineClient[],
  { name, zone, body }: { readonly name: string; readonly zone: number; readonly body: object },
): Promise<{ readonly times: ReadonlyMap<EngineName, number>; readonly total: number; readonly differences: readonly string[] }> {
  const times = new Map<EngineName, number>();
  const answers: { readonly engine: string; readonly answer: { readonly total: number } }[] = [];
  for (const engine of engines) {
    const { elapsedMs, answer = '' } = await engine.explore({ zone, body, withAnswer: true });
    times.set(engine.name, elapsedMs);
    answers.push({ engine: engine.name, answer: JSON.parse(answer) });
  }
  return { times, total: answers[0]?.answer.total ?? 0, differences: differencesBetween(name, answers) };
}

import { cp } from 'node:fs/promises';
import type { EngineOptions } from '../engines/engine.ts';
import { type EngineClient, type SearchOrder, withEngine } from '../engines/engine-client.ts';
import { inEmptyDataDir } from '../events/event-file.ts';
import { QUESTIONS } from '../modes/questions.ts';
import { differencesBetween, type Workload } from '../modes/workload.ts';
import type { Pair, Spent } from './paired-ratios.ts';
import { processorMs, threadTimes } from './processor-time.ts';

/** The two programs that are compared, by what runs their engines; undefined stands for this checkout. */
export interface Sides {
  readonly before: string;
  readonly after: string | undefined;
}

/** What is asked of both sides. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** The `run`-th request, from 0. */
  readonly ask: (
    engine: EngineClient,
    run: number,
    withAnswer: boolean,
  ) => Promise<{ readonly elapsedMs: number; readonly answer?: string }>;
}

export interface ComparedRow extends Pick<Row, 'name' | 'title'> {
  readonly pairs: readonly Pair[];
  /** A sentence where the answers differ. */
  readonly differences: readonly string[];
}

/** A row is asked so often in a turn that it takes about so long, because processor time is told roughly for a shorter one. */
const TURN_MS = 150;
const MOST_REQUESTS = 100;

/** A side answers a row so often before it is measured: V8 and DuckDB get warm, and what may be remembered is. */
const WARM_UPS = 5;

/** The searches of the race. */
export function searchRows(workloads: readonly Workload[]): Row[] {
  return workloads.map(({ name, title, zone, body }) => ({
    name,
    title,
    ask: (engine, _, withAnswer) => engine.search({ zone, body, withAnswer }),
  }));
}

/** The first looks of the explorer, which are all alike, or its second looks, each another one. */
export function exploreRows(look: 'first' | 'second'): Row[] {
  return QUESTIONS.map(({ name, title, zone, first, second }) => ({
    name,
    title,
    ask: (engine, run, withAnswer) =>
      engine.explore({ zone, body: look === 'first' ? first : second(run), withAnswer } satisfies SearchOrder),
  }));
}

interface Asked {
  readonly sides: Sides;
  /** A folder with events, of which each side gets a copy. */
  readonly dataDir: string;
  readonly options: Omit<EngineOptions, 'dataDir'>;
  readonly turns: number;
}

/** Asks both sides all rows, in turns; which one is first changes with each turn. Their answers are compared before. */
export async function compareRows({ sides, dataDir, options, turns }: Asked, rows: readonly Row[]): Promise<ComparedRow[]> {
  return await onCopy(dataDir, options, sides.before, async (before) => {
    return await onCopy(dataDir, options, sides.after, async (after) => {
      const compared: ComparedRow[] = [];
      for (const row of rows) {
        const differences = await differencesOf(row, before, after);
        const elapsedMs = Math.min(...(await warmUp(row, before)), ...(await warmUp(row, after)));
        const requests = Math.min(MOST_REQUESTS, Math.ceil(TURN_MS / elapsedMs));
        const pairs: Pair[] = [];
        for (let turn = 0; turn < turns; turn += 1) {
          const spend = (engine: EngineClient) => spentOn(engine, row, turn * requests, requests);
          pairs.push(
            await inTurn(
              turn,
              () => spend(before),
              () => spend(after),
            ),
          );
        }
        compared.push({ name: row.name, title: row.title, pairs, differences });
      }
      return compared;
    });
  });
}

/** Runs both, in an order that changes with each turn. */
export async function inTurn(turn: number, before: () => Promise<Spent>, after: () => Promise<Spent>): Promise<Pair> {
  if (turn % 2 === 0) {
    const first = await before();
    return { before: first, after: await after() };
  }
  const first = await after();
  return { before: await before(), after: first };
}

/** What a process spends on some work. */
export async function spending(pid: number, work: () => Promise<unknown>): Promise<Spent> {
  const threadsBefore = await threadTimes(pid);
  const startMs = performance.now();
  await work();
  const wallMs = performance.now() - startMs;
  const threadsAfter = await threadTimes(pid);
  const isKnown = threadsBefore !== undefined && threadsAfter !== undefined;
  return { wallMs, cpuMs: isKnown ? processorMs(threadsBefore, threadsAfter) : undefined };
}

/** Resolves with the milliseconds of each answer. */
async function warmUp(row: Row, engine: EngineClient): Promise<readonly number[]> {
  const times: number[] = [];
  for (let run = 0; run < WARM_UPS; run += 1) {
    times.push((await row.ask(engine, run, false)).elapsedMs);
  }
  return times;
}

function spentOn(engine: EngineClient, row: Row, firstRun: number, requests: number): Promise<Spent> {
  return spending(engine.pid, async () => {
    for (let request = 0; request < requests; request += 1) {
      await row.ask(engine, firstRun + request, false);
    }
  });
}

async function differencesOf(row: Row, before: EngineClient, after: EngineClient): Promise<readonly string[]> {
  const answers: { readonly engine: string; readonly answer: unknown }[] = [];
  for (const [engine, client] of [
    ['before', before],
    ['after', after],
  ] as const) {
    const { answer = '' } = await row.ask(client, 0, true);
    answers.push({ engine, answer: JSON.parse(answer) });
  }
  return differencesBetween(row.name, answers);
}

/** Runs work with an engine on a copy of a folder, which is removed afterwards. */
function onCopy<T>(
  dataDir: string,
  options: Omit<EngineOptions, 'dataDir'>,
  host: string | undefined,
  work: (engine: EngineClient) => Promise<T>,
): Promise<T> {
  return inEmptyDataDir('copy', async (copy) => {
    await cp(dataDir, copy, { recursive: true });
    return await withEngine('shieldlog', { ...options, dataDir: copy }, work, host);
  });
}

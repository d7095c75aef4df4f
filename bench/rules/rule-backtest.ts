import { join } from 'node:path';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import { HOUR_MS } from '../../query/durations.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { processorMs } from '../compare/processor-time.ts';
import { inEmptyDataDir } from '../events/event-file.ts';
import { type GeneratorOptions, generateEvents } from '../events/event-generator.ts';
import { withAttacks } from '../events/paced-events.ts';
import { count } from '../report/figures.ts';
import { ATTACK_EVENTS, measuredSet, RETENTION_MS, type RuleDocument, WantedCounts } from './rule-sets.ts';
import { RuledProgram } from './ruled-program.ts';

export interface BacktestMeasureOptions {
  readonly events: number;
  readonly memoryLimitMb: number;
  readonly tell: (what: string) => void;
}

/** Events are spread over so long, which leaves some hours until the first of them expire. */
const SPAN_MS = 66 * HOUR_MS;
const BATCH_EVENTS = 10_000;
const ATTACKS = { count: 10, events: ATTACK_EVENTS };
const SEED = 3;
/** Seconds of CPU for 10 million events. */
const GOALS = { rare: 10, usual: 150 } as const;
const GOAL_EVENTS = 10_000_000;

interface Tested {
  readonly counted: number;
  readonly told: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/**
 * The CPU time of the whole process for backtests over events that are stored, flushed and merged: of the rare rule, and of eight usual
 * ones, one after the other. Throws where a rule has not counted the events that the generator made for it, or an attack was not told.
 */
export async function ruleBacktest({ events, memoryLimitMb, tell }: BacktestMeasureOptions) {
  return await inEmptyDataDir('rules', async (dataDir) => {
    const [rare, ...usual] = measuredSet('eight usual rules', ATTACKS).documents;
    tell(`storing ${count(events)} events`);
    const wanted = await fill(
      join(dataDir, 'data'),
      { seed: SEED, count: events, zones: 1_700, nowMs: Date.now(), spanMs: SPAN_MS },
      memoryLimitMb,
    );
    await using program = await RuledProgram.start({ dataDir, rules: [], memoryLimitMb });
    await program.rested(0);
    const test = async (documents: readonly RuleDocument[]): Promise<Tested[]> => {
      const tested: Tested[] = [];
      for (const document of documents) {
        tell(`a backtest of ${document.name}`);
        const one = await backtested(program, document);
        const told = document.name === 'rare' ? ATTACKS.count : 0;
        if (one.counted !== wanted.of(document.name) || one.told !== told) {
          throw new Error(
            `${document.name} counted ${one.counted} events of ${wanted.of(document.name)}, and told ${one.told} alerts of ${told}`,
          );
        }
        tested.push(one);
      }
      return tested;
    };
    // What is compiled first counts for none of them.
    await test([rare as RuleDocument]);
    const rows = [
      rowOf('the rare rule', await test([rare as RuleDocument]), (GOALS.rare * events) / GOAL_EVENTS),
      rowOf('eight usual rules, one after the other', await test(usual), (GOALS.usual * events) / GOAL_EVENTS),
    ];
    return { header: ['rules', 'events counted', 'alerts', 'CPU', 'goal', 'time'], rows };
  });
}

function rowOf(name: string, tested: readonly Tested[], goalSeconds: number): string[] {
  const sum = (of: (one: Tested) => number): number => tested.reduce((total, one) => total + of(one), 0);
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  const counts = [sum(({ counted }) => counted), sum(({ told }) => told)].map(String);
  return [name, ...counts, seconds(sum(({ cpuSeconds }) => cpuSeconds)), seconds(goalSeconds), seconds(sum((one) => one.seconds))];
}

async function backtested(program: RuledProgram, document: RuleDocument): Promise<Tested> {
  const [before, began] = [await program.threadTimes(), performance.now()];
  const headers = { 'content-type': 'application/yaml' };
  const answer = await fetch(`${program.url}/alerts/test`, { method: 'POST', headers, body: JSON.stringify(document) });
  const text = await answer.text();
  const seconds = (performance.now() - began) / 1_000;
  const cpuSeconds = processorMs(before, await program.threadTimes()) / 1_000;
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  if (answer.status !== 200 || !last.includes('"summary"')) throw new Error(`the backtest answered ${answer.status}: ${last}`);
  const { counted, told } = JSON.parse(last) as { readonly counted: number; readonly told: number };
  return { counted, told, cpuSeconds, seconds };
}

/** Stores events as they come in with the clock, flushes and merges them. Resolves with what each rule has to count. */
async function fill(dataDir: string, options: GeneratorOptions, memoryLimitMb: number): Promise<WantedCounts> {
  const { seed, count: events, nowMs, spanMs } = options;
  const wanted = new WantedCounts();
  const set = measuredSet('eight usual rules', ATTACKS);
  const timeOf = (nth: number): number => Math.floor(nowMs - spanMs + (nth * spanMs) / events);
  let stored = 0;
  const now = (): number => timeOf(stored);
  const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
  const builder = new BatchBuilder({ now, retentionMs: RETENTION_MS });
  for (const line of withAttacks(generateEvents(options), { attacks: ATTACKS, events, seed, timeOf })) {
    wanted.add(line, [set]);
    builder.addEvent('file', line.subarray(0, -1));
    stored += 1;
    if (builder.eventCount === BATCH_EVENTS) await store.append(builder.take());
  }
  if (!builder.isEmpty) await store.append(builder.take());
  await store.flushNow();
  await store.compactNow();
  await store.close();
  return wanted;
}

import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Counterexample, keptCounterexamples, readValues, tellCounterexample, writeValues } from './counterexamples.ts';
import { runSeed } from './run-seed.ts';

/** fast-check's own. */
const USUAL_RUNS = 100;

const CHECKOUT = join(import.meta.dirname, '../..');

/** Data that properties are tried over, such as the events of a store. */
export interface DataSet {
  /** Of the properties. */
  readonly name: string;
  readonly seed: number;
  /** It is here for its counterexamples: nothing else is tried over it. */
  readonly isKept: boolean;
}

/** The data of kept counterexamples, then `count` more sets. */
export function dataSets(name: string, count: number): readonly DataSet[] {
  const kept = new Set(keptCounterexamples().flatMap((each) => (each.name === name ? (each.dataSeed ?? []) : [])));
  const drawn = fc.sample(fc.noBias(fc.integer()), count);
  return [...[...kept].map((seed) => ({ name, seed, isKept: true })), ...drawn.map((seed) => ({ name, seed, isKept: false }))];
}

/** How a property is tried: as fast-check has it, and over which data. */
export interface Trial<Ts> extends Omit<fc.Parameters<Ts>, 'seed' | 'path'> {
  readonly data?: DataSet;
  /** Tells apart the properties that are tried over the same data. */
  readonly part?: string;
}

/**
 * Tries a property, first with the counterexamples that are kept of it. Without `data` its name is that of its test. Throws with the
 * counterexample, and with the seed that finds it again.
 */
export function assertProperty<Ts extends [unknown, ...unknown[]]>(property: fc.IProperty<Ts>, trial: Trial<Ts> = {}): void {
  const { parameters, report } = prepared(property, trial);
  report(fc.check(property, parameters));
}

/** As {@link assertProperty} does, for a property that waits. */
export async function assertAsyncProperty<Ts extends [unknown, ...unknown[]]>(
  property: fc.IAsyncProperty<Ts>,
  trial: Trial<Ts> = {},
): Promise<void> {
  const { parameters, report } = prepared(property, trial);
  report(await fc.check(property, parameters));
}

function prepared<Ts extends [unknown, ...unknown[]]>(property: fc.IRawProperty<Ts>, { data, part = '', ...given }: Trial<Ts>) {
  const file = relative(CHECKOUT, expect.getState().testPath ?? '');
  const [name, dataSeed] = data === undefined ? [expect.getState().currentTestName ?? '', null] : [data.name, data.seed];
  const isOfThis = (each: Counterexample) => each.file === file && each.name === name && each.part === part && each.dataSeed === dataSeed;
  const kept = keptCounterexamples().filter(isOfThis);
  const examples = [...kept.map(({ values }) => readValues<Ts>(values)), ...(given.examples ?? [])];
  const numRuns = data?.isKept === true ? examples.length : examples.length + (given.numRuns ?? USUAL_RUNS);
  // A counterexample that could not be written would be lost.
  for (const values of fc.sample(property, 1)) writeValues(values);

  const report = (details: fc.RunDetails<Ts>): void => {
    if (!details.failed) return;
    if (details.counterexample !== null) tellCounterexample({ file, name, part, dataSeed, values: writeValues(details.counterexample) });
    throw new Error(`${fc.defaultReportMessage(details)}\nSEED=${runSeed()} draws it again`, { cause: details.errorInstance });
  };
  return { parameters: { ...given, examples, numRuns }, report };
}

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'devalue';

/** What a property once failed for. */
export interface Counterexample {
  /** The file of the property's test, relative to the checkout. */
  readonly file: string;
  /** The name of the data that the property is tried over, or else of its test. */
  readonly name: string;
  /** Which of the properties that are tried over the same data; empty where there is one. */
  readonly part: string;
  /** The seed of the data that the property was tried over; null for a property without data. */
  readonly dataSeed: number | null;
  /** The arguments of the property, written by devalue. They are no seed, which means another case once a generator changes. */
  readonly values: string;
}

export const COUNTEREXAMPLES_FILE = join(import.meta.dirname, 'counterexamples.json');

/** Names the file to which `npm run fuzz` wants found counterexamples appended, a line each. */
export const FINDINGS_VARIABLE = 'SHIELDLOG_FUZZ_FINDINGS';

/** Writes the arguments of a property; throws for what would not come back as it was, such as a function. */
export function writeValues(values: readonly unknown[]): string {
  return stringify(values, { Buffer: (value) => Buffer.isBuffer(value) && value.toString('base64') });
}

export function readValues<Ts>(text: string): Ts {
  return parse(text, { Buffer: (base64: string) => Buffer.from(base64, 'base64') });
}

/** What is kept, to be tried first. A run that looks for new counterexamples does not stop at old ones. */
export function keptCounterexamples(): readonly Counterexample[] {
  if (process.env[FINDINGS_VARIABLE] !== undefined) return [];
  return JSON.parse(readFileSync(COUNTEREXAMPLES_FILE, 'utf8')) as readonly Counterexample[];
}

/** Hands a counterexample to `npm run fuzz`, which alone writes the file of those that are kept. Any other run only fails. */
export function tellCounterexample(found: Counterexample): void {
  const file = process.env[FINDINGS_VARIABLE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(found)}\n`);
}

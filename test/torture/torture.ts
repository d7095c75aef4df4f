import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBroker } from '../broker/kafka-broker.ts';
import { minutesAndSeed } from '../random/run-arguments.ts';
import { Difference } from './sent-events.ts';
import { whyNoFaults } from './strace-faults.ts';
import { TortureRun } from './torture-run.ts';

// `npm run torture -- --minutes N [--seed S]`: the program under Kafka, HTTP, kills, merges, a short retention and failing files, while
// what it answers is held to what was sent. Ends with status 1 at the first difference.

const USAGE = 'usage: npm run torture -- [--minutes N] [--seed S]';

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

function given(): { readonly minutes: number; readonly seed: number } {
  try {
    return minutesAndSeed(parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } }).values, fail);
  } catch (error) {
    return fail((error as Error).message);
  }
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const { minutes, seed } = given();
print(`torture: --minutes ${minutes} --seed ${seed}`);
const folder = mkdtempSync(join(tmpdir(), 'shieldlog-torture-'));
const dataDir = join(folder, 'data');
mkdirSync(dataDir);
const noFaults = await whyNoFaults(folder);
if (noFaults !== undefined) print(`no calls of SQLite and DuckDB are made to fail: ${noFaults}`);
const own = process.env['KAFKA_BROKERS'] ? undefined : await startBroker();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    print(`interrupted without a verdict; the data folder is kept: ${dataDir}`);
    // Broker and program end with this process.
    process.exit(130);
  });
}
const run = new TortureRun({
  seed,
  minutes,
  folder,
  dataDir,
  brokers: own?.address ?? process.env['KAFKA_BROKERS'] ?? '',
  injectsFaults: noFaults === undefined,
  print,
});
let difference: unknown;
try {
  await run.run();
} catch (error) {
  difference = error;
}
await run.stop();
await own?.stop();
print(run.table());
if (difference === undefined) {
  rmSync(folder, { recursive: true });
  print('verdict: all that was acknowledged is there once');
} else {
  const text = difference instanceof Difference ? difference.message : String((difference as Error).stack);
  print(`verdict: ${text}\n--seed ${seed}; the data folder is kept: ${dataDir}`);
}
process.exit(difference === undefined ? 0 : 1);

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBroker } from '../broker/kafka-broker.ts';
import { minutesAndSeed } from '../random/run-arguments.ts';
import { ClickhouseTortureRun } from './clickhouse-torture-run.ts';
import { Difference } from './sent-events.ts';
import { whyNoFaults } from './strace-faults.ts';
import { type TortureOptions, TortureRun } from './torture-run.ts';

// `npm run torture -- --minutes N [--seed S]`: the program under Kafka, HTTP, kills, merges, a short retention and failing files, while
// what it answers is held to what was sent. With `--store clickhouse` two programs on one ClickHouse server, which is killed, too, loses
// answers and has a clock that steps. Ends with status 1 at the first difference.

const USAGE = 'usage: npm run torture -- [--minutes N] [--seed S] [--store embedded|clickhouse]';
const STORES = ['embedded', 'clickhouse'];

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

function given(): { readonly minutes: number; readonly seed: number; readonly store: string } {
  try {
    const option = { type: 'string' } as const;
    const { store = 'embedded', ...values } = parseArgs({ options: { minutes: option, seed: option, store: option } }).values;
    if (!STORES.includes(store)) fail(`--store is ${JSON.stringify(store)}; allowed: ${STORES.join(', ')}`);
    return { ...minutesAndSeed(values, fail), store };
  } catch (error) {
    return fail((error as Error).message);
  }
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const { minutes, seed, store } = given();
const argumentsAgain = `--seed ${seed} --store ${store}`;
print(`torture: --minutes ${minutes} ${argumentsAgain}`);
const folder = mkdtempSync(join(tmpdir(), 'shieldlog-torture-'));
const dataDir = join(folder, 'data');
mkdirSync(dataDir);
const noFaults = store === 'clickhouse' ? undefined : await whyNoFaults(folder);
if (noFaults !== undefined) print(`no calls of SQLite and DuckDB are made to fail: ${noFaults}`);
const own = process.env['KAFKA_BROKERS'] ? undefined : await startBroker();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    print(`interrupted without a verdict; the data folder is kept: ${dataDir}`);
    // Broker, server and programs end with this process.
    process.exit(130);
  });
}
const options: TortureOptions = {
  seed,
  minutes,
  folder,
  dataDir,
  brokers: own?.address ?? process.env['KAFKA_BROKERS'] ?? '',
  injectsFaults: noFaults === undefined,
  print,
};
const run = store === 'clickhouse' ? new ClickhouseTortureRun(options) : new TortureRun(options);
let difference: unknown;
try {
  await run.run();
} catch (error) {
  difference = error;
}
await run.stop(difference !== undefined);
await own?.stop();
print(run.table());
if (difference === undefined) {
  rmSync(folder, { recursive: true });
  print('verdict: all that was acknowledged is there once');
} else {
  const text = difference instanceof Difference ? difference.message : String((difference as Error).stack);
  print(`verdict: ${text}\n${argumentsAgain}; the data folder is kept: ${dataDir}`);
}
process.exit(difference === undefined ? 0 : 1);

// Races this project's engine against ClickHouse on generated events: taking them in, searching them, both at once, many clients.
//   node bench/main.ts            20 million events, and 1 and 5 million to see how times grow; some 40 minutes
//   node bench/main.ts --smoke    1 million events in two minutes; then the way from Kafka (--no-kafka leaves that out)
//   --sizes 1000000,5000000       --events-per-file 20000000 (larger sizes come in several files, each made before it is taken in and removed after it)
//   --modes intake,hot,cold,mixed,concurrency      --engines shieldlog,clickhouse
//   --only 05,14 (workloads whose names begin so)  --intake-runs N  --hot-runs N  --cold-runs N  --seconds N  --turns N  --memory-limit-mb N
import { parseArgs } from 'node:util';
import { ENGINE_NAMES } from './engines/engine.ts';
import { engineVersions } from './engines/engine-versions.ts';
import { integerOption } from './integer-option.ts';
import { listOption } from './list-option.ts';
import { loadWorkloads } from './modes/workload.ts';
import { startProgress } from './progress.ts';
import { MODES, runRace, stepsOf } from './race.ts';
import { circumstances } from './report/circumstances.ts';
import type { RaceResult } from './report/race-result.ts';
import { raceText } from './report/race-text.ts';
import { writeResult } from './report/result-files.ts';
import { measureKafka, NoBacklog } from './subjects/measure-kafka.ts';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    'no-kafka': { type: 'boolean', default: false },
    sizes: { type: 'string' },
    'events-per-file': { type: 'string', default: '20000000' },
    modes: { type: 'string', default: MODES.join(',') },
    engines: { type: 'string', default: ENGINE_NAMES.join(',') },
    only: { type: 'string', default: '' },
    'intake-runs': { type: 'string' },
    'hot-runs': { type: 'string' },
    'cold-runs': { type: 'string', default: '1' },
    seconds: { type: 'string' },
    turns: { type: 'string' },
    'memory-limit-mb': { type: 'string', default: '1024' },
  },
});
const option = (name: 'intake-runs' | 'hot-runs' | 'seconds' | 'turns', smoke: string, usual: string) =>
  integerOption(name, values[name] ?? (values.smoke ? smoke : usual));

const sizes = (values.sizes ?? (values.smoke ? '1000000' : '1000000,5000000,20000000'))
  .split(',')
  .map((text) => integerOption('sizes', text));
const engines = listOption('engines', values.engines, ENGINE_NAMES);
const modes = listOption('modes', values.modes, MODES);
const prefixes = values.only.split(',');
const workloads = (await loadWorkloads()).filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
const memoryLimitMb = integerOption('memory-limit-mb', values['memory-limit-mb']);

const order = {
  engines,
  modes,
  sizes: sizes.toSorted((a, b) => a - b),
  eventsPerFile: integerOption('events-per-file', values['events-per-file']),
  workloads,
  intakeRuns: option('intake-runs', '1', '3'),
  hotRuns: option('hot-runs', '3', '9'),
  coldRuns: integerOption('cold-runs', values['cold-runs']),
  seconds: option('seconds', '3', '20'),
  turns: option('turns', '2', '3'),
  clients: [1, 4, 16],
  eventsPerSecond: 50_000,
  memoryLimitMb,
};
// Of the commit that is measured, whatever becomes of the folder meanwhile.
const started = circumstances(await engineVersions(engines));
const progress = startProgress(stepsOf(order));
const measured = await runRace({ ...order, onStep: progress.step }).finally(() => progress.stop());
const result: RaceResult = { circumstances: started, ...measured };
process.stdout.write(`${raceText(result)}\n`);
const files = await writeResult(result);
process.stderr.write(`${files.map((file) => `written: ${file}\n`).join('')}`);
if (result.differences.length > 0) {
  process.stderr.write('the engines gave different answers: the figures above mean nothing\n');
  process.exitCode = 1;
}

if (values.smoke && !values['no-kafka']) {
  const events = sizes.at(-1) as number;
  const text = await measureKafka({ events, partitions: 4, codec: 'lz4', memoryLimitMb, latencies: 100 }).catch((error: unknown) => {
    if (error instanceof NoBacklog) {
      return `Kafka: NOT MEASURED, because ${error.message}`;
    }
    throw error;
  });
  process.stdout.write(`\n${text}\n`);
}

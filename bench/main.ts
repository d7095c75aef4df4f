// Races this project's store against ClickHouse on generated events: intake, searches, questions of the explorer,
// searches during an intake, several clients.
//   node bench/main.ts            20 million events, and 1 and 5 million to see how times grow; some 40 minutes
//   node bench/main.ts --smoke    1 million events in two minutes, then the intake from Kafka (--no-kafka leaves that out)
//   --sizes 1000000,5000000       --events-per-file 20000000 (larger sizes take several files, of which one exists at a time)
//   --modes intake,hot,floor,cold,explore,mixed,concurrency     --engines shieldlog,clickhouse
//   --only 05,14 (beginnings of names of workloads; `explore` of the questions of the explorer)
//   node bench/main.ts compare COMMIT    another commit of this project instead of ClickHouse (compare.ts)
//   --intake-runs N  --hot-runs N  --cold-runs N  --seconds N  --turns N  --memory-limit-mb N

import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { compareWith } from './compare.ts';
import { ENGINE_NAMES } from './engines/engine.ts';
import { engineVersions } from './engines/engine-client.ts';
import { QUESTIONS } from './modes/questions.ts';
import { loadWorkloads } from './modes/workload.ts';
import { integerOption, listOption } from './options.ts';
import { MODES, runRace, stepsOf } from './race.ts';
import { circumstances } from './report/circumstances.ts';
import { raceHtml } from './report/page/race-html.ts';
import type { RaceResult } from './report/race-result.ts';
import { raceText } from './report/race-text.ts';
import { measureKafka, NoBacklog } from './subjects/measure-kafka.ts';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

/** Writes the result as `results/<date>/<machine>.json` and as a page beside it. Resolves with the two paths. */
async function writeResult(result: RaceResult): Promise<string[]> {
  const folder = join(RESULTS, result.circumstances.startedAt.slice(0, 10));
  await mkdir(folder, { recursive: true });
  const name = hostname().replaceAll(/[^A-Za-z0-9._-]/g, '-');
  const [json, html] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  await writeFile(html, raceHtml(result));
  return [json, html];
}

interface Progress {
  /** Shows the step that begins now. */
  readonly step: (what: string) => void;
  stop(): void;
}

/** Shows the steps on stderr: as a bar on a terminal, otherwise as a line each. */
function startProgress(steps: number): Progress {
  if (!process.stderr.isTTY) {
    return { step: (what) => process.stderr.write(`${what}\n`), stop: () => undefined };
  }
  const bar = new SingleBar({
    format: '{duration_formatted} [{bar}] {value}/{total} {what}',
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(steps, 0, { what: '' });
  return {
    step: (what) => bar.increment(1, { what }),
    stop: () => bar.stop(),
  };
}

const [mode, commit, ...compareArgs] = process.argv.slice(2);
if (mode === 'compare') {
  if (commit === undefined || commit.startsWith('-')) {
    process.stderr.write('compare needs a commit: npm run bench -- compare COMMIT\n');
    process.exit(2);
  }
  process.exit(await compareWith(commit, compareArgs));
}

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
const isAsked = ({ name }: { readonly name: string }) => prefixes.some((prefix) => name.startsWith(prefix));
const workloads = (await loadWorkloads()).filter(isAsked);
const memoryLimitMb = integerOption('memory-limit-mb', values['memory-limit-mb']);

const order = {
  engines,
  modes,
  sizes: sizes.toSorted((a, b) => a - b),
  eventsPerFile: integerOption('events-per-file', values['events-per-file']),
  workloads,
  questions: QUESTIONS.filter(isAsked),
  intakeRuns: option('intake-runs', '1', '3'),
  hotRuns: option('hot-runs', '3', '9'),
  coldRuns: integerOption('cold-runs', values['cold-runs']),
  seconds: option('seconds', '3', '20'),
  turns: option('turns', '2', '3'),
  clients: [1, 4, 16],
  eventsPerSecond: 50_000,
  memoryLimitMb,
};
// Taken now, because the checkout may change during the measurement.
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

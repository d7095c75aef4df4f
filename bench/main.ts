// Measures the way from NDJSON to durable and searchable, and searches over the result, on generated events.
//   node bench/main.ts            20 million events
//   node bench/main.ts --smoke    1 million events; --quick: 100,000, once, and the totals of searches are checked against the file
//   --smoke without --quick also measures the way from a local Kafka (KAFKA_BROKERS, or one of its own); --no-kafka leaves that out
//   --events N  --runs N  --search-runs N  --memory-limit-mb N
import { parseArgs } from 'node:util';
import { benchOptions, eventFile } from './event-file.ts';
import { integerOption } from './integer-option.ts';
import { measureKafka, NoBacklog } from './measure-kafka.ts';
import { circumstances, figures } from './report.ts';
import { runSubject } from './run-subject.ts';
import type { SubjectOrder, SubjectReport } from './subject-report.ts';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    'no-kafka': { type: 'boolean', default: false },
    events: { type: 'string' },
    runs: { type: 'string' },
    'search-runs': { type: 'string' },
    'memory-limit-mb': { type: 'string', default: '1024' },
  },
});

const usualEvents = values.quick ? '100000' : values.smoke ? '1000000' : '20000000';
const events = integerOption('events', values.events ?? usualEvents);
const runs = integerOption('runs', values.runs ?? (values.quick || !values.smoke ? '1' : '3'));
const searchRuns = integerOption('search-runs', values['search-runs'] ?? (values.quick ? '2' : '15'));
const memoryLimitMb = integerOption('memory-limit-mb', values['memory-limit-mb']);

process.stderr.write(`generating ${events} events, unless they are there\n`);
const { path, bytes } = await eventFile(benchOptions(events));
const reports: SubjectReport[] = [];
for (let run = 1; run <= runs; run += 1) {
  process.stderr.write(`run ${run} of ${runs}\n`);
  const order = { file: path, events, memoryLimitMb, searchRuns, checkTotals: values.quick };
  reports.push(await runSubject<SubjectOrder, SubjectReport>('subject.ts', order));
}
process.stdout.write(`${circumstances()}\n\n${figures(events, bytes, reports)}\n`);

const wrong = reports.flatMap(({ wrongTotals }) => wrongTotals);
if (wrong.length > 0) {
  process.stderr.write(`${wrong.map((text) => `wrong total: ${text}\n`).join('')}`);
  process.exitCode = 1;
} else if (values.quick) {
  process.stdout.write('\nevery total is what the file has\n');
}

if (values.smoke && !values.quick && !values['no-kafka']) {
  const text = await measureKafka({ events, partitions: 4, codec: 'lz4', memoryLimitMb, latencies: 100 }).catch((error: unknown) => {
    if (error instanceof NoBacklog) {
      return `Kafka: NOT MEASURED, because ${error.message}`;
    }
    throw error;
  });
  process.stdout.write(`\n${text}\n`);
}

// Writes generated events as an NDJSON file:
//   node bench/generate.ts [--events N] [--zones N] [--seed N] [--now UNIX_MS] [--minutes N] [--out FILE]
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCH_NOW_MS, eventFile } from './events/event-file.ts';
import { integerOption } from './options.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    zones: { type: 'string', default: '1700' },
    seed: { type: 'string', default: '1' },
    now: { type: 'string', default: String(BENCH_NOW_MS) },
    minutes: { type: 'string', default: '4260' },
    out: { type: 'string' },
  },
});

const options = {
  count: integerOption('events', values.events),
  zones: integerOption('zones', values.zones),
  seed: integerOption('seed', values.seed),
  nowMs: integerOption('now', values.now),
  spanMs: integerOption('minutes', values.minutes) * 60_000,
};
const { path, bytes } = await eventFile(options, values.out === undefined ? undefined : resolve(values.out));
process.stderr.write(`${options.count} events, ${bytes} bytes\n`);
process.stdout.write(`${path}\n`);

// Writes generated events as an NDJSON file:
//   node bench/generate.ts [--events N] [--zones N] [--seed N] [--now UNIX_MS] [--minutes N] [--out FILE]
import { resolve } from 'node:path';
import { BENCH_NOW_MS, eventFile } from './events/event-file.ts';
import { givenOptions } from './options.ts';

const { events, zones, seed, now, minutes, out } = givenOptions({
  events: 1_000_000,
  zones: 1_700,
  seed: 1,
  now: BENCH_NOW_MS,
  minutes: 4_260,
  out: '',
});

const options = { count: events, zones, seed, nowMs: now, spanMs: minutes * 60_000 };
const { path, bytes } = await eventFile(options, out === '' ? undefined : resolve(out));
process.stderr.write(`${options.count} events, ${bytes} bytes\n`);
process.stdout.write(`${path}\n`);

// Measures the speed of an export of all events of a zone over HTTP, and the memory that the program takes for it:
//   node bench/export-speed.ts [--events N] [--memory-limit-mb N]
import { inEmptyDataDir } from './events/event-file.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { mib, textTable } from './report/figures.ts';
import type { ExportOrder, ExportReport } from './subjects/export-subject.ts';
import type { FilledStore } from './subjects/fill-store.ts';
import { forkSubject } from './subjects/fork-subject.ts';

const { events, 'memory-limit-mb': memoryLimitMb } = givenOptions({ events: 2_500_000, 'memory-limit-mb': 1_024 });

// The environment in which scripts/launch.mjs starts the program.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
process.env['MALLOC_ARENA_MAX'] ??= '2';

const RUNS = [
  { type: 'text/csv', encoding: 'identity' },
  { type: 'application/x-ndjson', encoding: 'identity' },
  { type: 'text/csv', encoding: 'gzip' },
  { type: 'text/csv', encoding: 'zstd' },
];

const { segmentBytes, report } = await inEmptyDataDir('export', async (dataDir) => {
  const run = <Report>(order: ExportOrder) => forkSubject<Report>('export-subject.ts', order);
  process.stderr.write(`filling a store with ${events} events of one zone\n`);
  const filled = await run<FilledStore>({ kind: 'fill', dataDir, events, memoryLimitMb });
  process.stderr.write('exporting\n');
  return { ...filled, report: await run<ExportReport>({ kind: 'export', dataDir, events, memoryLimitMb, runs: RUNS }) };
});

const { openRssBytes, warmRssBytes, exports } = report;
for (const { type, lines } of exports) {
  const expected = type === 'text/csv' ? events + 1 : events;
  if (lines !== expected) throw new Error(`${type}: ${lines} lines instead of ${expected}`);
}
const rows = exports.map(({ type, encoding, elapsedMs, toFirstMs, bytes, plainBytes, peakRssBytes }) => [
  `${type}, ${encoding}`,
  `${Math.round((events / elapsedMs) * 1000)} events/s`,
  `${mib((plainBytes / elapsedMs) * 1000)}/s`,
  mib(bytes),
  `${toFirstMs.toFixed(0)} ms`,
  mib(peakRssBytes - warmRssBytes),
  mib(peakRssBytes - openRssBytes),
]);
const heads = ['export', 'rate', 'text', 'on the wire', 'first byte', 'growth', 'from the start'];
const memory = `resident memory ${mib(openRssBytes)} when open, ${mib(warmRssBytes)} after some searches`;
const title = `${events} events, ${mib(segmentBytes)} on disk; ${memory}`;
process.stdout.write(`${circumstancesText(circumstances({}))}\n\n${textTable(title, heads, rows)}\n`);

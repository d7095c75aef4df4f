// Measures intake and searches while events come in with the clock, one in twenty of them up to ten minutes late, also after a restart of
// the program:
//   node bench/sustained-speed.ts [--rate 30000] [--seconds 60] [--starts 2] [--memory-limit-mb N]
// Prints the intake of every ten seconds and the times of a dashboard's searches, one every 250 ms.
import { BENCH_NOW_MS, eventFiles, inEmptyDataDir } from './events/event-file.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { count, mib, ms, percentile, textTable } from './report/figures.ts';
import { forkSubject } from './subjects/fork-subject.ts';
import type { SustainedOrder, SustainedRow } from './subjects/sustained-subject.ts';

const {
  rate: eventsPerSecond,
  seconds,
  starts,
  'memory-limit-mb': memoryLimitMb,
} = givenOptions({ rate: 30_000, seconds: 60, starts: 2, 'memory-limit-mb': 1_024 });

const eventsPerStart = eventsPerSecond * seconds;
const spanMs = starts * seconds * 1_000;
const options = { seed: 3, count: starts * eventsPerStart, zones: 1_700, nowMs: BENCH_NOW_MS, spanMs };

function shown(row: SustainedRow): string[] {
  const { endedMs, unflushedEvents, segments, searchMs, cpuMsPerSecond, residentBytes } = row;
  return [
    `${Math.round(endedMs / 1_000)} s`,
    count(row.eventsPerSecond),
    count(unflushedEvents),
    count(segments),
    ...[0.5, 0.95].map((share) => ms(percentile(searchMs, share))),
    `${count(cpuMsPerSecond)} ms`,
    mib(residentBytes),
  ];
}

process.stdout.write(`${circumstancesText(circumstances({}))}\n`);
await inEmptyDataDir('sustained', async (dataDir) => {
  let fromMs = BENCH_NOW_MS - spanMs;
  for await (const { path } of eventFiles(options, eventsPerStart)) {
    const order: SustainedOrder = { dataDir, file: path, eventsPerSecond, fromMs, memoryLimitMb };
    const rows = await forkSubject<readonly SustainedRow[]>('sustained-subject.ts', order);
    const title = `\n${count(eventsPerSecond)} events/s offered, ${fromMs === BENCH_NOW_MS - spanMs ? 'started empty' : 'started again'}`;
    const header = ['after', 'events/s', 'hot', 'segments', 'searches, p50', 'p95', 'CPU a second', 'resident'];
    process.stdout.write(`${textTable(title, header, rows.map(shown))}\n`);
    fromMs += seconds * 1_000;
  }
});

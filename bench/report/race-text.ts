import type { EngineName } from '../engines/engine.ts';
import { circumstancesText } from './circumstances.ts';
import { count, mib, ms, percentile, textTable } from './figures.ts';
import { type ByEngine, OURS, type RaceResult, RIVAL, type SizeFigures } from './race-result.ts';
import {
  coresBusy,
  eventsPerSecond,
  geometricMean,
  growthExponent,
  lookMs,
  medianMs,
  secondShare,
  slowdownText,
  type Temperature,
  timesAsFast,
  timesAsFastAt,
  timesTheFloor,
} from './race-summary.ts';

const times = (value: number) => (Number.isNaN(value) ? '' : `${value.toFixed(2)}x`);

/** The result as tables for a terminal. */
export function raceText(result: RaceResult): string {
  const parts = [
    circumstancesText(result.circumstances),
    ...result.sizes.flatMap((size) => [intakeTable(size), searchTable(size), floorTable(size)]),
    growthTable(result.sizes),
    questionsTable(result),
    mixedTable(result),
    concurrencyTable(result),
    result.differences.length === 0 ? 'All engines gave equal answers.' : `DIFFERENT ANSWERS\n${result.differences.join('\n')}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function entries<T>(byEngine: ByEngine<T>): [EngineName, T][] {
  return Object.entries(byEngine) as [EngineName, T][];
}

function intakeTable({ events, files, intake }: SizeFigures): string {
  const rows = entries(intake).map(([engine, { runs, diskBytes }]) => {
    const rate = (values: readonly number[]) => `${count(events / (percentile(values, 0.5) / 1000))}`;
    return [
      engine,
      rate(runs.map(({ elapsedMs }) => elapsedMs)),
      rate(runs.map(({ elapsedMs, settleMs }) => elapsedMs + settleMs)),
      percentile(runs.map(coresBusy), 0.5).toFixed(2),
      mib(Math.max(...runs.map(({ peakMemoryBytes }) => peakMemoryBytes))),
      (diskBytes / events).toFixed(0),
    ];
  });
  const several = files.count > 1 ? `, in ${files.count} files` : '';
  const title = `${count(events)} events of ${(files.bytes / events).toFixed(0)} bytes: intake${several}`;
  return textTable(title, ['', 'events/s, searchable', 'events/s, merged', 'cores busy', 'memory, peak', 'bytes an event on disk'], rows);
}

function searchTable({ events, workloads, searchPeakMemoryBytes }: SizeFigures): string {
  const isTimed = workloads.some(({ engines }) => entries(engines).some(([, { hotMs, coldMs }]) => hotMs.length + coldMs.length > 0));
  if (!isTimed) {
    return '';
  }
  const columns = (temperature: Temperature) => (workload: SizeFigures['workloads'][number]) => [
    ...[OURS, RIVAL].map((engine) => shown(medianMs(workload, engine, temperature))),
    times(timesAsFast(workload, OURS, RIVAL, temperature)),
  ];
  const rows = workloads.map((workload) => [
    workload.title,
    count(workload.total),
    ...columns('hotMs')(workload),
    ...columns('coldMs')(workload),
    ...columns('rememberedMs')(workload),
  ]);
  const mean = (temperature: Temperature) =>
    times(geometricMean(workloads.map((workload) => timesAsFast(workload, OURS, RIVAL, temperature))));
  const peaks = entries(searchPeakMemoryBytes).map(([engine, bytes]) => `${engine} ${mib(bytes)}`);
  return textTable(
    `${count(events)} events: searches of ${OURS} beside ${RIVAL}, ms (median); memory, peak: ${peaks.join(', ')}`,
    ['', 'total', ...['hot', 'cold', 'remembered'].flatMap((name) => [name, RIVAL, 'as fast'])],
    [
      ...rows,
      ['geometric mean', '', ...(['hotMs', 'coldMs', 'rememberedMs'] as const).flatMap((temperature) => ['', '', mean(temperature)])],
    ],
  );
}

function floorTable({ events, floor }: SizeFigures): string {
  const rows = floor.map((row) => {
    const [ours, least] = [row.oursMs, row.floorMs].map((values) => percentile(values, 0.5)) as [number, number];
    return [row.title, count(row.total), shown(ours), shown(least), times(timesTheFloor(row))];
  });
  // Where our engine is the fastest known, it is its own floor.
  const mean = times(geometricMean(floor.map((row) => Math.max(1, timesTheFloor(row)))));
  const title = `${count(events)} events: ${OURS} beside its floor, statements by hand over the same files without logs, ms (median)`;
  const columns = ['', 'total', OURS, 'floor', 'times the floor'];
  return rows.length === 0 ? '' : textTable(title, columns, [...rows, ['geometric mean, none below 1', '', '', '', mean]]);
}

function shown(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(value < 10 ? 1 : 0);
}

function growthTable(sizes: readonly SizeFigures[]): string {
  const rows = (sizes.at(-1)?.workloads ?? []).map(({ name, title }) => [
    title,
    ...[OURS, RIVAL].map((engine) => growthExponent(sizes, name, engine)).map((power) => (Number.isNaN(power) ? '' : power.toFixed(2))),
  ]);
  if (rows.every(([, ...powers]) => powers.every((power) => power === ''))) {
    return '';
  }
  const from = `${count(sizes[0]?.events ?? 0)} to ${count(sizes.at(-1)?.events ?? 0)} events`;
  return textTable(`From ${from} the time grows by this power of their number`, ['', OURS, RIVAL], rows);
}

function questionsTable({ questions }: RaceResult): string {
  const engines = [OURS, RIVAL];
  const share = (value: number) => (Number.isNaN(value) ? '' : `${(value * 100).toFixed(0)}%`);
  const rows = questions.map((question) => [
    question.title,
    count(question.total),
    ...(['firstMs', 'secondMs'] as const).flatMap((look) => [
      ...engines.map((engine) => shown(lookMs(question, engine, look))),
      times(timesAsFastAt(question, OURS, RIVAL, look)),
    ]),
    ...engines.map((engine) => share(secondShare(question, engine))),
  ]);
  const columns = ['first look', 'second look'].flatMap((look) => [look, RIVAL, 'as fast']);
  const title = `Questions of the explorer: ${OURS} beside ${RIVAL}, ms (median)`;
  return rows.length === 0 ? '' : textTable(title, ['', 'total', ...columns, 'second of first', RIVAL], rows);
}

function mixedTable({ mixed }: RaceResult): string {
  const rows = entries(mixed).flatMap(([engine, runs]) => [
    ...runs.flatMap((run) => {
      const alone = run.turns.flatMap(({ aloneMs }) => aloneMs);
      return alone.length === 0 ? [] : [[engine, 'none', '', '', ...latencies(alone), '']];
    }),
    ...runs.map((run) => [
      engine,
      `${run.wantedEventsPerSecond === null ? 'full speed' : count(run.wantedEventsPerSecond)} onto ${count(run.storedEvents)}`,
      count(eventsPerSecond(run)),
      mib(run.peakMemoryBytes),
      ...latencies(run.turns.flatMap(({ besideMs }) => besideMs)),
      slowdownText(run, times, (ratio) => ratio.toFixed(2)),
    ]),
  ]);
  const columns = ['', 'intake', 'events/s', 'memory, peak', 'searches', 'p50', 'p95', 'p99', 'p95 of p95 alone'];
  return rows.length === 0 ? '' : textTable("A dashboard's searches, one every 100 ms, while events come in", columns, rows);
}

function latencies(times: readonly number[]): string[] {
  return [count(times.length), ...[0.5, 0.95, 0.99].map((share) => ms(percentile(times, share)))];
}

function concurrencyTable({ concurrency }: RaceResult): string {
  const rows = entries(concurrency).flatMap(([engine, figures]) =>
    figures.map(({ clients, requestsPerSecond, p50Ms, p99Ms, errors }) => [
      engine,
      count(clients),
      requestsPerSecond.toFixed(1),
      ms(p50Ms),
      ms(p99Ms),
      count(errors),
    ]),
  );
  return rows.length === 0 ? '' : textTable('Over HTTP', ['', 'clients', 'requests/s', 'p50', 'p99', 'errors'], rows);
}

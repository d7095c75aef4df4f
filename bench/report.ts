import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { count, line, mib, ms } from './figure-line.ts';
import { percentile } from './percentile.ts';
import type { SubjectReport } from './subject-report.ts';

const GIB = 1024 ** 3;

/** What a figure needs beside it to mean anything: machine, commit and command. */
export function circumstances(): string {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes';
  return [
    `machine: ${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / GIB)} GiB, ${process.platform}, Node ${process.versions.node}`,
    `commit:  ${git('rev-parse', '--short', 'HEAD')}${changed}`,
    `command: node bench/${basename(process.argv[1] ?? '')} ${process.argv.slice(2).join(' ')}`,
  ].join('\n');
}

/** The figures of several runs as text, the median first and what it varied between behind it. */
export function figures(events: number, bytes: number, reports: readonly SubjectReport[]): string {
  const rates = reports.map(({ intake }) => events / (intake.elapsedMs / 1000));
  const searchMs = reports.flatMap(({ intake }) => intake.searchMs);
  const last = reports.at(-1);
  const lines = [
    `${count(events)} events of ${Math.round(bytes / events)} bytes, ${reports.length} runs`,
    line('events/s, NDJSON to durable and searchable', spread(rates, count)),
    line(
      '  searches meanwhile, one every 100 ms',
      `p50 ${ms(percentile(searchMs, 0.5))}, p95 ${ms(percentile(searchMs, 0.95))} (${searchMs.length} searches)`,
    ),
    line(
      '  resident memory, peak',
      spread(
        reports.map(({ peakRssBytes }) => peakRssBytes),
        mib,
      ),
    ),
    line(
      'resident memory, peak with the searches below',
      spread(
        reports.map(({ searchPeakRssBytes }) => searchPeakRssBytes),
        mib,
      ),
    ),
    line('segments at the end', `${last?.segments ?? 0}, ${mib(last?.segmentBytes ?? 0)}`),
    'searches of the biggest zone, sealed and compacted:',
    ...(last?.workloads ?? []).map(({ name, total }) => {
      const times = reports.flatMap(({ workloads }) => workloads.find((workload) => workload.name === name)?.times ?? []);
      return line(
        `  ${name} (of ${count(total)})`,
        `p50 ${ms(percentile(times, 0.5))}, p95 ${ms(percentile(times, 0.95))}, first ${ms(times[0] ?? Number.NaN)}`,
      );
    }),
  ];
  return lines.join('\n');
}

function spread(values: readonly number[], show: (value: number) => string): string {
  return `${show(percentile(values, 0.5))} (${show(Math.min(...values))} to ${show(Math.max(...values))})`;
}

import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import type { ProgramMinute } from '../program-view.ts';
import { type Application, HISTORY_MS } from './application.ts';
import { bySpan, chart, GRANULARITIES, type Granularity, mean, meanLatencyMs, percent, total } from './chart.ts';

export interface StatisticsQuery {
  readonly granularity: Granularity;
  readonly fromDate?: string;
  readonly toDate?: string;
}

/** How far back a chart reaches where `fromDate` is not given. */
const DEFAULT_SPANS: Readonly<Record<Granularity, number>> = { Minute: 60, Hourly: 24, Daily: 7 };

function invalid(field: string, message: string): EdgeError {
  return new EdgeError(400, 'request.invalid', `${field}: ${message}`, { errors: [{ field, message }] });
}

/** The format lets a leap second through, which has no Unix time. */
function timeMs(field: 'fromDate' | 'toDate', text: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw invalid(field, `${shown(text)} is no time; allowed: ISO 8601 without leap seconds, such as "2026-01-31T12:00:00Z"`);
}

function windowOf({ granularity, fromDate, toDate }: StatisticsQuery, nowMs: number): readonly [fromMs: number, toMs: number] {
  // The minute under way belongs to it.
  const toMs = toDate === undefined ? nowMs + 1 : timeMs('toDate', toDate);
  const fromMs = fromDate === undefined ? toMs - DEFAULT_SPANS[granularity] * GRANULARITIES[granularity] : timeMs('fromDate', fromDate);
  if (fromMs < toMs) return [Math.max(fromMs, nowMs - HISTORY_MS), Math.min(toMs, nowMs + 1)];
  throw invalid('fromDate', `"${fromDate ?? new Date(fromMs).toISOString()}" is not before toDate, ${toDate ?? 'now'}`);
}

/** An application's charts. CPU in per cent of one core, memory and volumes in per cent and bytes, traffic in bytes, latency in ms. */
export function statistics(application: Application, query: StatisticsQuery, nowMs: number): Readonly<Record<string, unknown>> {
  const spans = bySpan(application.minutes(...windowOf(query, nowMs)), query.granularity);
  const of = (read: (minutes: readonly ProgramMinute[]) => number | null): object => chart(spans, read);
  const meanOf = (read: (minute: ProgramMinute) => number): object => of((minutes) => mean(minutes.map(read)));
  const volumeUsage = meanOf(({ volumeUsedBytes }) => volumeUsedBytes);
  const volumeCapacity = meanOf(({ volumeCapacityBytes }) => volumeCapacityBytes);
  return {
    targetLatencyChart: of(() => application.targetLatencyMs),
    activeRegionsChart: of(() => 1),
    latencyChart: of(meanLatencyMs),
    instancesChart: of(() => 1),
    cpuUsageChart: meanOf(({ cpuPercent }) => cpuPercent),
    ramUsageChart: meanOf(({ memoryBytes }) => percent(memoryBytes, application.memoryLimitBytes)),
    trafficChart: of((minutes) => total(minutes.map(({ sentBytes }) => sentBytes))),
    volumesSplitUsageChart: { data: volumeUsage },
    volumesSplitCapacityChart: { data: volumeCapacity },
    volumesUsageChart: volumeUsage,
    volumesCapacityChart: volumeCapacity,
  };
}

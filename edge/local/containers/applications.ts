import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import type { LocalResource, ProgramMinute } from '../local-resource.ts';
import {
  type Application,
  bySpan,
  chart,
  GRANULARITIES,
  type Granularity,
  HISTORY_MS,
  mean,
  meanLatencyMs,
  percent,
  programApplication,
  seededApplication,
  total,
} from './application-history.ts';
import { overview } from './overview.ts';

interface StatisticsQuery {
  readonly granularity: Granularity;
  readonly fromDate?: string;
  readonly toDate?: string;
}

/** The length of a chart where `fromDate` is missing. */
const DEFAULT_SPANS: Readonly<Record<Granularity, number>> = { Minute: 60, Hourly: 24, Daily: 7 };

function invalid(field: string, message: string): EdgeError {
  return new EdgeError(400, 'request.invalid', `${field}: ${message}`, { errors: [{ field, message }] });
}

/** The format allows a leap second, which has no Unix time. */
function timeMs(field: 'fromDate' | 'toDate', text: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw invalid(field, `${shown(text)} is no time; allowed: ISO 8601 without leap seconds, such as "2026-01-31T12:00:00Z"`);
}

function windowOf({ granularity, fromDate, toDate }: StatisticsQuery, nowMs: number): readonly [fromMs: number, toMs: number] {
  // The current minute is included.
  const toMs = toDate === undefined ? nowMs + 1 : timeMs('toDate', toDate);
  const fromMs = fromDate === undefined ? toMs - DEFAULT_SPANS[granularity] * GRANULARITIES[granularity] : timeMs('fromDate', fromDate);
  if (fromMs < toMs) return [Math.max(fromMs, nowMs - HISTORY_MS), Math.min(toMs, nowMs + 1)];
  throw invalid('fromDate', `"${fromDate ?? new Date(fromMs).toISOString()}" is not before toDate, ${toDate ?? 'now'}`);
}

/**
 * The charts of an application. CPU is in per cent of one core, memory and volumes in per cent and bytes, traffic in bytes, latency in ms.
 */
function statistics(application: Application, query: StatisticsQuery, nowMs: number): Readonly<Record<string, unknown>> {
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

interface AppPath {
  readonly Params: { readonly appId: string };
}

/** Answers operations 9 and 10: the applications, which are the running program, measured, and a made-up one. */
export const applications: LocalResource = {
  name: 'applications',
  migrations: [],
  routes(app, { program, now }) {
    const all: readonly Application[] = [programApplication(program), seededApplication];

    function requireApplication(appId: string): Application {
      const found = all.find(({ id }) => id === appId);
      if (found !== undefined) return found;
      throw new EdgeError(404, 'application.not_found', `There is no application "${appId}"`, { field: 'appId' });
    }

    app.get<AppPath & { Querystring: StatisticsQuery }>('/mc/apps/:appId/statistics', ({ params, query }, reply) =>
      reply.send(statistics(requireApplication(params.appId), query, now())),
    );
    app.get<AppPath>('/mc/apps/:appId/overview', ({ params }, reply) => reply.send(overview(requireApplication(params.appId), now())));
  },
};

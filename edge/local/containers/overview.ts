import type { ApplicationStatus, StatusGrade } from '../../operations/containers.ts';
import type { ProgramMinute } from '../local-resource.ts';
import { type Application, bySpan, chart, mean, meanLatencyMs, percent, total } from './application-history.ts';

interface Graded {
  readonly indicator: number;
  /** Null where there is nothing to grade. */
  readonly statusGrade: StatusGrade | null;
}

function graded(indicator: number, great: number, fair: number): Graded {
  if (indicator <= great) return { indicator, statusGrade: 'doingGreat' };
  return { indicator, statusGrade: indicator <= fair ? 'notBad' : 'couldBeBetter' };
}

/** Up to the target, latency is great; up to twice the target, not bad. */
function gradeLatency(latencyMs: number | null, targetMs: number): Graded {
  return latencyMs === null ? { indicator: 0, statusGrade: null } : graded(latencyMs, targetMs, 2 * targetMs);
}

/** Grades the used share, in per cent. */
function gradeUsage(usedPercent: number): Graded {
  return graded(usedPercent, 60, 85);
}

/** Grades a number of which one is enough. */
function gradeCount(count: number): Graded {
  return { indicator: count, statusGrade: count >= 1 ? 'doingGreat' : 'couldBeBetter' };
}

const HOUR_MS = 3_600_000;
const BYTES_PER_GB = 1_000_000_000;

interface LastHour {
  readonly minutes: readonly ProgramMinute[];
  readonly cpu: number;
  readonly ram: number;
  readonly volumes: number;
  readonly last: ProgramMinute | undefined;
}

function containerOf(application: Application, hour: LastHour): object {
  return {
    id: `${application.id}-0-main`,
    name: 'main',
    cpuUsage: hour.cpu,
    ramUsage: hour.ram,
    reason: '',
    message: '',
    image: application.image,
    imageDisplay: application.imageDisplay,
    numberOfRestarts: 0,
    exitCode: 0,
  };
}

function podOf(application: Application, hour: LastHour, nowMs: number): object {
  const used = hour.last?.volumeUsedBytes ?? 0;
  const capacity = hour.last?.volumeCapacityBytes ?? 0;
  return {
    name: `${application.id}-0`,
    lastHeartBeat: new Date(nowMs).toISOString(),
    outboundTrafficChart: chart(bySpan(hour.minutes, 'Minute'), (minutes) => total(minutes.map(({ sentBytes }) => sentBytes))),
    cpuUsage: hour.cpu,
    ramUsage: hour.ram,
    containers: [containerOf(application, hour)],
    message: '',
    volumesUtilizationPercentage: { data: hour.volumes },
    ephemeralStorageUsageBytes: used,
    ephemeralStorageLimitBytes: capacity,
    ephemeralStorageUsageRatio: capacity === 0 ? 0 : used / capacity,
    // There is no limit, so nothing is rejected.
    outboundConnectionsLimit: 0,
    outboundConnectionsRejectedDiff: 0,
  };
}

function regionOf(application: Application, hour: LastHour, nowMs: number): object {
  return {
    region: application.region,
    isRequired: true,
    instances: 1,
    averageCPU: hour.cpu,
    averageRAM: hour.ram,
    averageVolumesUsagePercentage: hour.volumes,
    requests: total(hour.minutes.map(({ requests }) => requests)),
    anycastTraffic: total(hour.minutes.map(({ sentBytes }) => sentBytes)),
    pods: [podOf(application, hour, nowMs)],
  };
}

/**
 * The state of an application. Averages are over the past hour, CPU is in per cent of one core, other usages in per cent, latency in ms.
 */
export function overview(application: Application, nowMs: number): Readonly<Record<string, unknown>> {
  const minutes = application.minutes(nowMs - HOUR_MS, nowMs + 1);
  const last = minutes.at(-1);
  const hour: LastHour = {
    minutes,
    cpu: mean(minutes.map(({ cpuPercent }) => cpuPercent)),
    ram: percent(mean(minutes.map(({ memoryBytes }) => memoryBytes)), application.memoryLimitBytes),
    volumes: percent(last?.volumeUsedBytes ?? 0, last?.volumeCapacityBytes ?? 0),
    last,
  };
  const latencyMs = meanLatencyMs(minutes);
  const status: ApplicationStatus = last === undefined ? 'unknown' : 'active';
  return {
    status,
    targetLatency: gradeLatency(application.targetLatencyMs, application.targetLatencyMs),
    currentLatency: gradeLatency(latencyMs, application.targetLatencyMs),
    activeRegions: gradeCount(1),
    activeInstances: gradeCount(1),
    averageCPU: gradeUsage(hour.cpu),
    averageRAM: gradeUsage(hour.ram),
    averageVolumesUsage: gradeUsage(hour.volumes),
    desiredInstances: 1,
    regions: [regionOf(application, hour, nowMs)],
    averageLatency: latencyMs ?? 0,
    totalVolumeSizeInGb: (last?.volumeCapacityBytes ?? 0) / BYTES_PER_GB,
    monthlyCost: application.monthlyCost,
    latencyChart: chart(bySpan(minutes, 'Minute'), meanLatencyMs),
  };
}

import type { JsonSchema } from '../operation.ts';
import { COUNT, exactly, listOf, mapOf, NUMBER, queryOf, TEXT, TIME, YES_OR_NO } from './object-schema.ts';

const CHART: JsonSchema = {
  type: 'object',
  propertyNames: { format: 'date-time' },
  additionalProperties: NUMBER,
  description: 'From ISO 8601 UTC times to numbers',
};

const SPLIT_CHART = { ...mapOf(CHART), description: 'From the names of volumes to charts' };

export const STATISTICS_QUERY = queryOf(
  {
    granularity: { type: 'string', enum: ['Daily', 'Hourly', 'Minute'], description: 'How much time each number is about' },
    fromDate: { ...TIME, description: 'Left out: 60 minutes, 24 hours or 7 days before toDate' },
    toDate: { ...TIME, description: 'Left out: now' },
  },
  ['granularity'],
);

export const STATISTICS = exactly({
  targetLatencyChart: CHART,
  activeRegionsChart: CHART,
  latencyChart: CHART,
  instancesChart: CHART,
  cpuUsageChart: CHART,
  ramUsageChart: CHART,
  trafficChart: CHART,
  volumesSplitUsageChart: SPLIT_CHART,
  volumesSplitCapacityChart: SPLIT_CHART,
  volumesUsageChart: CHART,
  volumesCapacityChart: CHART,
});

/** From the worst. */
const STATUS_GRADES = ['couldBeBetter', 'notBad', 'doingGreat'] as const;

export type StatusGrade = (typeof STATUS_GRADES)[number];

const GRADED = exactly({
  indicator: NUMBER,
  statusGrade: { enum: [...STATUS_GRADES, null], description: 'Null where there is nothing to grade' },
});

const NOTHING_TO_SAY = 'Empty where there is nothing to say';

const CONTAINER = exactly({
  id: TEXT,
  name: TEXT,
  cpuUsage: NUMBER,
  ramUsage: NUMBER,
  reason: { ...TEXT, description: NOTHING_TO_SAY },
  message: { ...TEXT, description: NOTHING_TO_SAY },
  image: TEXT,
  imageDisplay: TEXT,
  numberOfRestarts: COUNT,
  exitCode: { type: 'integer', description: '0 while it runs' },
});

const POD = exactly({
  name: TEXT,
  lastHeartBeat: TIME,
  outboundTrafficChart: CHART,
  cpuUsage: NUMBER,
  ramUsage: NUMBER,
  containers: listOf(CONTAINER),
  message: { ...TEXT, description: NOTHING_TO_SAY },
  volumesUtilizationPercentage: mapOf(NUMBER),
  ephemeralStorageUsageBytes: COUNT,
  ephemeralStorageLimitBytes: COUNT,
  ephemeralStorageUsageRatio: NUMBER,
  outboundConnectionsLimit: COUNT,
  outboundConnectionsRejectedDiff: COUNT,
});

const REGION = exactly({
  region: TEXT,
  isRequired: YES_OR_NO,
  instances: COUNT,
  averageCPU: NUMBER,
  averageRAM: NUMBER,
  averageVolumesUsagePercentage: NUMBER,
  requests: COUNT,
  anycastTraffic: NUMBER,
  pods: listOf(POD),
});

const STATUSES = ['unknown', 'active', 'progressing', 'inactive', 'failing', 'suspended'] as const;

export type ApplicationStatus = (typeof STATUSES)[number];

export const OVERVIEW = exactly({
  status: { type: 'string', enum: STATUSES },
  targetLatency: GRADED,
  currentLatency: GRADED,
  activeRegions: GRADED,
  activeInstances: GRADED,
  averageCPU: GRADED,
  averageRAM: GRADED,
  averageVolumesUsage: GRADED,
  desiredInstances: COUNT,
  regions: listOf(REGION),
  averageLatency: NUMBER,
  totalVolumeSizeInGb: NUMBER,
  monthlyCost: NUMBER,
  latencyChart: CHART,
});

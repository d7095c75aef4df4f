import { COUNT, exactly, type JsonSchema, listOf, mapOf, NULLABLE_TEXT, NUMBER, queryOf, TEXT, TIME, YES_OR_NO } from './json-schema.ts';
import { defineOperation, type ErrorExample, type OperationGroup } from './operation.ts';

const CHART: JsonSchema = {
  type: 'object',
  propertyNames: { format: 'date-time' },
  additionalProperties: NUMBER,
  description: 'From ISO 8601 UTC times to numbers',
};

const SPLIT_CHART = { ...mapOf(CHART), description: 'From the names of volumes to charts' };

const STATISTICS_QUERY = queryOf(
  {
    granularity: { type: 'string', enum: ['Daily', 'Hourly', 'Minute'], description: 'How much time each number is about' },
    fromDate: { ...TIME, description: 'Left out: 60 minutes, 24 hours or 7 days before toDate' },
    toDate: { ...TIME, description: 'Left out: now' },
  },
  ['granularity'],
);

const STATISTICS = exactly({
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

const OVERVIEW = exactly({
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

const NODES_QUERY = queryOf({
  nextCursor: { ...TEXT, description: 'The cursor of the page before' },
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 20, description: 'At most so many' },
});

const NODES = exactly({
  items: listOf(TEXT),
  meta: exactly({ totalItems: COUNT }),
  cursor: { ...NULLABLE_TEXT, description: 'Null on the last page' },
});

/** Each time is the beginning of a minute, an hour or a day. */
const at = (value: number) => ({ '2026-01-01T00:39:00.000Z': value, '2026-01-01T00:40:00.000Z': value });

const USED_BYTES = 3_156_327_286;
const CAPACITY_BYTES = 10_737_418_240;

const STATISTICS_EXAMPLE = {
  targetLatencyChart: at(50),
  activeRegionsChart: at(1),
  latencyChart: at(42.5),
  instancesChart: at(1),
  cpuUsageChart: at(38.25),
  ramUsageChart: at(55.5),
  trafficChart: at(18_544_836),
  volumesSplitUsageChart: { data: at(USED_BYTES) },
  volumesSplitCapacityChart: { data: at(CAPACITY_BYTES) },
  volumesUsageChart: at(USED_BYTES),
  volumesCapacityChart: at(CAPACITY_BYTES),
};

const POD_EXAMPLE = {
  name: 'demo-shop-0',
  lastHeartBeat: '2026-01-01T00:40:01.500Z',
  outboundTrafficChart: at(18_544_836),
  cpuUsage: 38.25,
  ramUsage: 55.5,
  containers: [
    {
      id: 'demo-shop-0-main',
      name: 'main',
      cpuUsage: 38.25,
      ramUsage: 55.5,
      reason: '',
      message: '',
      image: 'registry.example/demo-shop:1.4.0',
      imageDisplay: 'demo-shop:1.4.0',
      numberOfRestarts: 0,
      exitCode: 0,
    },
  ],
  message: '',
  volumesUtilizationPercentage: { data: 29.4 },
  ephemeralStorageUsageBytes: USED_BYTES,
  ephemeralStorageLimitBytes: CAPACITY_BYTES,
  ephemeralStorageUsageRatio: 0.294,
  outboundConnectionsLimit: 0,
  outboundConnectionsRejectedDiff: 0,
};

const OVERVIEW_EXAMPLE = {
  status: 'active',
  targetLatency: { indicator: 50, statusGrade: 'doingGreat' },
  currentLatency: { indicator: 42.5, statusGrade: 'doingGreat' },
  activeRegions: { indicator: 1, statusGrade: 'doingGreat' },
  activeInstances: { indicator: 1, statusGrade: 'doingGreat' },
  averageCPU: { indicator: 38.25, statusGrade: 'doingGreat' },
  averageRAM: { indicator: 55.5, statusGrade: 'doingGreat' },
  averageVolumesUsage: { indicator: 29.4, statusGrade: 'doingGreat' },
  desiredInstances: 1,
  regions: [
    {
      region: 'DE',
      isRequired: true,
      instances: 1,
      averageCPU: 38.25,
      averageRAM: 55.5,
      averageVolumesUsagePercentage: 29.4,
      requests: 123_241,
      anycastTraffic: 1_352_829_302,
      pods: [POD_EXAMPLE],
    },
  ],
  averageLatency: 42.5,
  totalVolumeSizeInGb: 10.737,
  monthlyCost: 12.5,
  latencyChart: at(42.5),
};

const CONTAINERS_ROW = { method: 'GET', key: 'personal', errorShape: 'errors-list', idempotent: true } as const;

/** Without slash, dot or percent sign, so that no identifier changes the path. */
const APP_PATH = { appId: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' } };

const UNKNOWN_APPLICATION: ErrorExample = {
  key: 'application.not_found',
  field: 'appId',
  message: 'There is no application "nobody"',
  request: { params: { appId: 'nobody' } },
};

const WRONG_APPLICATION: ErrorExample = {
  key: 'request.invalid',
  field: 'appId',
  message: 'appId: "a.b" must match pattern "^[A-Za-z0-9_-]{1,128}$"',
  request: { params: { appId: 'a.b' } },
};

const WRONG_GRANULARITY: ErrorExample = {
  key: 'request.invalid',
  field: 'granularity',
  message: 'granularity: "Weekly" is not allowed; allowed: Daily, Hourly, Minute',
  request: { query: { granularity: 'Weekly' } },
};

export const CONTAINERS: OperationGroup = {
  tag: 'Containers',
  about: 'Applications and nodes',
  schemas: { ApplicationStatistics: STATISTICS, ApplicationOverview: OVERVIEW, NodeList: NODES },
  operations: [
    defineOperation({
      ...CONTAINERS_ROW,
      number: 9,
      name: 'getApplicationStatistics',
      summary: 'Read the historical statistics of a container application',
      path: '/mc/apps/:appId/statistics',
      params: APP_PATH,
      query: STATISTICS_QUERY,
      answer: STATISTICS,
      errors: { 400: WRONG_GRANULARITY, 404: UNKNOWN_APPLICATION },
      example: { params: { appId: 'demo-shop' }, query: { granularity: 'Minute' }, answer: STATISTICS_EXAMPLE },
    }),
    defineOperation({
      ...CONTAINERS_ROW,
      number: 10,
      name: 'getApplicationOverview',
      summary: 'Read the overview of a container application',
      path: '/mc/apps/:appId/overview',
      params: APP_PATH,
      answer: OVERVIEW,
      errors: { 400: WRONG_APPLICATION, 404: UNKNOWN_APPLICATION },
      example: { params: { appId: 'demo-shop' }, answer: OVERVIEW_EXAMPLE },
    }),
    defineOperation({
      ...CONTAINERS_ROW,
      number: 11,
      name: 'listNodes',
      summary: 'List the IP addresses of all nodes in the container network',
      path: '/mc/nodes',
      params: {},
      query: NODES_QUERY,
      answer: NODES,
      errors: { 400: { key: 'request.invalid', field: 'limit', message: 'limit: 0 must be >= 1', request: { query: { limit: 0 } } } },
      example: {
        query: { limit: 2 },
        answer: { items: ['198.51.100.10', '2001:db8:0:1::1'], meta: { totalItems: 48 }, cursor: 'bm9kZToy' },
      },
    }),
  ],
};

import type { OperationExample } from '../operation.ts';

/** Charts begin a minute, an hour or a day with each of their times. */
const at = (value: number) => ({ '2026-01-01T00:39:00.000Z': value, '2026-01-01T00:40:00.000Z': value });

const USED_BYTES = 3_156_327_286;
const CAPACITY_BYTES = 10_737_418_240;

const STATISTICS = {
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

const POD = {
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

const OVERVIEW = {
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
      pods: [POD],
    },
  ],
  averageLatency: 42.5,
  totalVolumeSizeInGb: 10.737,
  monthlyCost: 12.5,
  latencyChart: at(42.5),
};

/** Of the operations on container applications and nodes, by their names. */
export const CONTAINER_EXAMPLES = {
  getApplicationStatistics: {
    params: { appId: 'demo-shop' },
    query: { granularity: 'Minute' },
    body: null,
    status: 200,
    answer: STATISTICS,
  },
  getApplicationOverview: { params: { appId: 'demo-shop' }, query: {}, body: null, status: 200, answer: OVERVIEW },
  listNodes: {
    params: {},
    query: { limit: 2 },
    body: null,
    status: 200,
    answer: { items: ['198.51.100.10', '2001:db8:0:1::1'], meta: { totalItems: 48 }, cursor: 'bm9kZToy' },
  },
} as const satisfies Readonly<Record<string, OperationExample>>;

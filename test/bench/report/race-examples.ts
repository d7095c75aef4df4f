import type { RaceResult, SearchFigures, SizeFigures } from '../../../bench/report/race-result.ts';

/** A title that would end an element, begin a script and end an attribute. */
const AWKWARD = `</title><script>alert('1')</script> "quoted" & 'single'`;
/** The same within a page. */
export const AWKWARD_WRITTEN = '&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;quoted&quot; &amp; &#39;single&#39;';

function sizeOf(events: number, coldRuns: number): SizeFigures {
  const share = events / 1_000_000;
  const times = (median: number, cold: number) => ({
    hotMs: [median * 2, median, median / 2],
    coldMs: Array.from({ length: coldRuns }, () => median * cold),
    rememberedMs: [],
  });
  return {
    events,
    files: { count: 1, bytes: events * 1140 },
    intake: {
      shieldlog: {
        runs: [{ elapsedMs: events / 100, settleMs: events / 400, cpuMs: events / 80, peakMemoryBytes: 512 * 1024 ** 2 }],
        diskBytes: events * 142,
      },
      clickhouse: {
        runs: [{ elapsedMs: events / 125, settleMs: 0, cpuMs: events / 80, peakMemoryBytes: 2048 * 1024 ** 2 }],
        diskBytes: events * 171,
      },
    },
    floor: [{ name: '01', title: 'first page', total: 123_456, oursMs: [12 * share], floorMs: [10 * share] }],
    searchPeakMemoryBytes: { shieldlog: 300 * 1024 ** 2, clickhouse: 900 * 1024 ** 2 },
    workloads: [
      {
        name: '01',
        title: 'first page',
        total: 123_456,
        engines: {
          shieldlog: { ...times(10 * share, 2), rememberedMs: [4 * share] },
          clickhouse: { ...times(70 * share, 3), rememberedMs: [20 * share] },
        },
      },
      { name: '02', title: AWKWARD, total: 7, engines: { shieldlog: times(90 * Math.sqrt(share), 2), clickhouse: times(40, 3) } },
    ],
  };
}

/** Everything measured. */
export const full: RaceResult = {
  circumstances: {
    startedAt: '2026-07-01T10:20:30.123Z',
    commit: 'abc1234 with changes',
    command: 'node bench/main.ts --only "<05>"',
    machine: { cpu: 'Quick <CPU>', cores: 2, memoryGib: 8, platform: 'linux' },
    versions: { node: '24.21.0', shieldlog: 'duckdb v1.5.6', clickhouse: 'clickhouse 26.5, chdb 3.4' },
  },
  sizes: [sizeOf(1_000_000, 0), sizeOf(4_000_000, 1)],
  questions: [
    {
      name: 'explore-1',
      title: 'large zone',
      total: 500_000,
      engines: {
        shieldlog: { firstMs: [190, 180, 290], secondMs: [20, 19, 10] },
        clickhouse: { firstMs: [370, 380, 360], secondMs: [190, 280, 185] },
      },
    },
    {
      name: 'explore-2',
      title: `${AWKWARD}, six hours selected`,
      total: 2_000,
      engines: { shieldlog: { firstMs: [40], secondMs: [30] }, clickhouse: { firstMs: [15], secondMs: [10] } },
    },
  ],
  mixed: {
    shieldlog: [
      {
        storedEvents: 4_000_000,
        wantedEventsPerSecond: 50_000,
        turns: [
          { aloneMs: [11, 12, 13], eventsPerSecond: 40_000, besideMs: [20, 21] },
          { aloneMs: [10, 11, 16], eventsPerSecond: 60_000, besideMs: [22, 24] },
        ],
        peakMemoryBytes: 2 ** 30,
      },
      {
        storedEvents: 0,
        wantedEventsPerSecond: null,
        turns: [{ aloneMs: [], eventsPerSecond: 87_654, besideMs: [41, 42, 43] }],
        peakMemoryBytes: 2 ** 30,
      },
    ],
  },
  concurrency: {
    shieldlog: [
      { clients: 1, requestsPerSecond: 41.5, p50Ms: 12, p99Ms: 90, errors: 0 },
      { clients: 16, requestsPerSecond: 88.25, p50Ms: 84, p99Ms: 627, errors: 3 },
    ],
    clickhouse: [{ clients: 16, requestsPerSecond: 51, p50Ms: 216, p99Ms: 836, errors: 0 }],
  },
  differences: [],
};

/** Nothing but where and when. */
export const nothing: RaceResult = { ...full, sizes: [], questions: [], mixed: {}, concurrency: {} };

/** The full result with every workload's times changed. */
export function withTimes(
  change: (times: { readonly hotMs: readonly number[]; readonly coldMs: readonly number[] }) => Omit<SearchFigures, 'rememberedMs'>,
): RaceResult {
  const sizes = full.sizes.map((size) => ({
    ...size,
    workloads: size.workloads.map((workload) => ({
      ...workload,
      engines: Object.fromEntries(
        Object.entries(workload.engines).map(([engine, times]) => [engine, { ...change(times), rememberedMs: [] }]),
      ),
    })),
  }));
  return { ...full, sizes };
}

export const hotOnly = withTimes(({ hotMs }) => ({ hotMs, coldMs: [] }));
export const coldOnly = withTimes(({ coldMs }) => ({ hotMs: [], coldMs }));
/** One engine only. */
export const alone: RaceResult = {
  ...full,
  sizes: full.sizes.map((size) => ({
    ...size,
    intake: { shieldlog: size.intake.shieldlog as NonNullable<typeof size.intake.shieldlog> },
    workloads: size.workloads.map(({ engines: { shieldlog }, ...workload }) => ({
      ...workload,
      engines: { shieldlog: shieldlog as NonNullable<typeof shieldlog> },
    })),
  })),
  questions: full.questions.map(({ engines: { shieldlog }, ...question }) => ({
    ...question,
    engines: { shieldlog: shieldlog as NonNullable<typeof shieldlog> },
  })),
  concurrency: {},
};
/** Engines that do not agree. */
export const different: RaceResult = { ...full, differences: ['14: clickhouse and shieldlog differ at $.total: "<b>", not 1'] };

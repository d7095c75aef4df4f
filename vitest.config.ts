import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { NODE_OPTIONS } from './scripts/node-options.mjs';
import { MOVED_CLOCK } from './test/fixtures/moved-clock.ts';
import { propertyRuns } from './test/random/property-runs.ts';
import { runSeed } from './test/random/run-seed.ts';

/** Tests of pure functions, which leave nothing behind in their process. */
const PURE = ['test/query/**/*.test.ts', 'test/web/**/*.test.ts', 'test/src/formats/**/*.test.ts', 'test/docs/**/*.test.ts'];

/** The main path of each command, in processes, and what changes functions of Node for the whole of its own. */
const PROCESS = 'test/**/*.process.test.ts';

/** Tests that start processes, kill them, or wait for what the program does by itself after a while. `npm run test:slow` runs them. */
const SLOW = 'test/**/*.slow.test.ts';

/**
 * Tests that are long by nature: programs and brokers that are killed again and again, stops that hang, endless bodies, and a broker with
 * TLS. `npm run test:long` runs them.
 */
const LONG = 'test/**/*.long.test.ts';

/** Tests that take minutes and seldom tell more than others. The nightly workflow runs them. */
const NIGHTLY = 'test/**/*.nightly.test.ts';

/** The store on ClickHouse, on a server that these tests share. `npm run test:clickhouse` runs them. */
const CLICKHOUSE = 'test/clickhouse/**/*.test.ts';

/**
 * What every store answers, with the store on ClickHouse instead of the embedded one. `npm run test:clickhouse` runs it, too. Slow files
 * are left out but for those about what a store takes in and gives: the others are about clients, memory and processes.
 */
const ON_CLICKHOUSE = [
  'test/fixtures/test-store.test.ts',
  'test/limits/{explore,export,feed,ingest,search}.test.ts',
  'test/property/{search,explore,matcher,address,feed-parts,feed-condition,alert-hits,alert-evaluation}-property.test.ts',
  'test/src/{export,feed,management,openapi,routes,tail}/!(*.slow|*.long).test.ts',
  'test/store/{dead-letter-shares,mapped-records}.test.ts',
  'test/src/feed/{feed-several-zones,feed-wait}.slow.test.ts',
  'test/src/routes/{dead-letters-route,interruption}.slow.test.ts',
  'test/src/tail/tail.slow.test.ts',
];

/**
 * What takes long on ClickHouse and seldom tells more: how much memory the program has while the most is asked of it, the longest texts and
 * lines, and what bounds the clients of a tail. That results are bounded there is a matter of `test/clickhouse/result-memory.test.ts`, and
 * what requests may hold of `test/limits/`. The nightly workflow runs it.
 */
const NIGHTLY_ON_CLICKHOUSE = [
  'test/bounded/{bounded,held-bytes}.slow.test.ts',
  'test/limits/tail.test.ts',
  'test/src/feed/feed-comes-in-again.slow.test.ts',
  'test/src/routes/long-texts.test.ts',
];

/** Files of those folders that are not run on ClickHouse. */
const NOT_ON_CLICKHOUSE = [
  // They look into the embedded store: its statements, its epochs, and its folder when that is lost.
  'test/src/routes/{search-depth,health-of-folder}.test.ts',
  'test/src/feed/cursors-ahead.test.ts',
  // They ask no store: formats, documents, the local control plane, what is refused before, and parts of the program alone. What requests
  // may hold at most is tried on ClickHouse by test/limits/ and test/clickhouse/limits.test.ts.
  'test/src/export/export-format.test.ts',
  'test/src/feed/{format-threads,page-memory}.test.ts',
  'test/src/management/{bodies,companions,program-history}.test.ts',
  'test/src/openapi/openapi-{bodies,examples,page,parameters,routes,served-document,store-failures}.test.ts',
  'test/src/tail/{tail-refusals,tail-watcher}.test.ts',
];

/** So many files at once where tests wait for ClickHouse, too. The two projects have to have equal numbers. */
const WAITING_WORKERS = availableParallelism() + 2;

/** The page in a real Chromium, in a few seconds; `npm test` runs it, `npm run test:e2e` what the page does in full. */
const SMOKE = 'test/browser/smoke.test.ts';

const IS_CLOCK_MOVED = process.env['MOVED_CLOCK_AT'] !== undefined;

const COMMON = {
  setupFiles: ['test/random/seed-setup.ts'],
  // Generous limits for what hangs, on a machine that is slow and busy with other things; no measurements.
  hookTimeout: 300_000,
  // Much of the program runs in the processes of the tests. With MOVED_CLOCK_AT every file begins at this time of day.
  execArgv: IS_CLOCK_MOVED ? [...NODE_OPTIONS, `--import=${MOVED_CLOCK}`] : [...NODE_OPTIONS],
  expect: { poll: { timeout: 60_000 } },
  // One file more than there are cores, because many wait. Projects with equal numbers run together, and no core idles at the end of each.
  maxWorkers: availableParallelism() + 1,
};

/**
 * Files that share processes, and are loaded by Node itself, because loading the same modules for each takes a third of the time. A process
 * has one clock, so that files have processes of their own where each begins at the same time of day.
 */
const SHARED = { isolate: IS_CLOCK_MOVED, experimental: { viteModuleRunner: false, nodeLoader: false } };

/**
 * These files begin first, because they take longest: a run ends with short files, and with no core that idles beside a long one. Vitest
 * orders files by the times of earlier runs, which a clean clone has not, and then by their sizes, which say nothing about these.
 */
const FIRST = /\/test\/(property|bounded|crash|broker)\/|\/clickhouse\/(faults\/clock-steps-property|limits)|every-width|feed-unread/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ moduleId }: TestSpecification): boolean => FIRST.test(moduleId);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

export default defineConfig({
  test: {
    // With SHUFFLED the files, and the tests in each, come in an order that the seed of the run decides.
    sequence:
      process.env['SHUFFLED'] === undefined
        ? { sequencer: LongestFirst }
        : { shuffle: { files: true, tests: true }, seed: Math.abs(runSeed()) },
    projects: [
      {
        // The tests that need neither a Kafka broker nor a process of their own: query, sql, store, HTTP.
        test: {
          ...COMMON,
          ...SHARED,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/broker/**',
            'test/browser/**',
            'test/property/**',
            'test/readme/**',
            CLICKHOUSE,
            ...PURE,
            PROCESS,
            SLOW,
            LONG,
            NIGHTLY,
          ],
          testTimeout: 120_000,
        },
      },
      {
        test: { ...COMMON, ...SHARED, name: 'pure', include: PURE, exclude: [SLOW], testTimeout: 120_000 },
      },
      {
        test: { ...COMMON, name: 'process', include: [PROCESS], exclude: [CLICKHOUSE], testTimeout: 120_000 },
      },
      {
        test: { ...COMMON, name: 'slow', include: [SLOW], exclude: ['test/broker/**', CLICKHOUSE], testTimeout: 300_000 },
      },
      {
        // Random requests against the slow oracle.
        test: {
          ...COMMON,
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          exclude: [SLOW, NIGHTLY],
          // More runs take longer.
          testTimeout: propertyRuns(600_000),
        },
      },
      {
        // Types the examples of README.md and docs/ into a shell: needs jq, kcat and curl beside a Kafka broker.
        // `npm run test:e2e` runs it.
        test: {
          ...COMMON,
          name: 'readme',
          include: ['test/readme/**/*.test.ts'],
          testTimeout: 300_000,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
      {
        // The page in a real Chromium. `npm run test:e2e` runs it.
        test: {
          ...COMMON,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          exclude: [SMOKE],
          testTimeout: 300_000,
          globalSetup: ['test/browser/demo-setup.ts'],
        },
      },
      {
        test: { ...COMMON, name: 'smoke', include: [SMOKE], testTimeout: 120_000 },
      },
      {
        // A real Apache Kafka broker: the main path, with one kill.
        test: {
          ...COMMON,
          name: 'broker',
          include: ['test/broker/**/*.test.ts'],
          exclude: [SLOW, LONG],
          testTimeout: 300_000,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
      {
        // All else of a broker, which the files share: each has topics and groups of its own.
        test: {
          ...COMMON,
          name: 'broker-slow',
          include: ['test/broker/**/*.slow.test.ts'],
          testTimeout: 600_000,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
      {
        // One server for all files: each test has databases of its own.
        test: {
          ...COMMON,
          maxWorkers: WAITING_WORKERS,
          name: 'clickhouse',
          include: [CLICKHOUSE],
          testTimeout: 300_000,
          globalSetup: ['test/clickhouse/clickhouse-setup.ts'],
        },
      },
      {
        test: {
          ...COMMON,
          maxWorkers: WAITING_WORKERS,
          name: 'on-clickhouse',
          include: ON_CLICKHOUSE,
          exclude: [...NOT_ON_CLICKHOUSE, ...NIGHTLY_ON_CLICKHOUSE],
          env: { TEST_STORE: process.env['TEST_STORE'] ?? 'clickhouse' },
          testTimeout: 300_000,
          globalSetup: ['test/clickhouse/clickhouse-setup.ts'],
        },
      },
      {
        test: {
          ...COMMON,
          name: 'nightly-on-clickhouse',
          include: NIGHTLY_ON_CLICKHOUSE,
          env: { TEST_STORE: 'clickhouse' },
          testTimeout: 300_000,
          globalSetup: ['test/clickhouse/clickhouse-setup.ts'],
        },
      },
      {
        test: { ...COMMON, name: 'nightly', include: [NIGHTLY], exclude: [CLICKHOUSE], testTimeout: 900_000 },
      },
      {
        test: {
          ...COMMON,
          name: 'long',
          include: [LONG],
          exclude: [CLICKHOUSE],
          testTimeout: 900_000,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
    ],
  },
});

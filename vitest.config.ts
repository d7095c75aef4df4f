import { defineConfig } from 'vitest/config';

/** Tests that start processes, kill them, or wait for what the program does by itself after a while. */
const SLOW = [
  'test/edge/api-guardian/api-guardian-facade.test.ts',
  'test/edge/api-guardian/api-guardian.test.ts',
  'test/edge/api-guardian/spec-limits.test.ts',
  'test/edge/api-guardian/spec-reader.test.ts',
  'test/edge/database/facade.test.ts',
  'test/edge/database/killed.test.ts',
  'test/edge/database/libsql-client.test.ts',
  'test/edge/database/runaway.test.ts',
  'test/edge/database/tokens.test.ts',
  'test/edge/local/applications.test.ts',
  'test/edge/local/killed.test.ts',
  'test/edge/local/platform-resources.test.ts',
  'test/edge/proxy-failures.test.ts',
  'test/edge/proxy.test.ts',
  'test/golden/hostile.test.ts',
  'test/ingest/demo-feed.test.ts',
  'test/ingest/event-intake.test.ts',
  'test/ingest/intake-pressure.test.ts',
  'test/ingest/intake-property.test.ts',
  'test/ingest/kafka-source.test.ts',
  'test/src/access.test.ts',
  'test/src/dead-letters-route.test.ts',
  'test/src/edge-two-planes.test.ts',
  'test/src/export-interruption.test.ts',
  'test/src/feed-command-kills.test.ts',
  'test/src/feed-command-sinks.test.ts',
  'test/src/feed-command.test.ts',
  'test/src/ingest-command.test.ts',
  'test/src/ingest-route.test.ts',
  'test/src/feed-wait.test.ts',
  'test/src/interruption.test.ts',
  'test/src/launcher.test.ts',
  'test/src/feed-places.test.ts',
  'test/src/openapi-statuses.test.ts',
  'test/src/request-bodies.test.ts',
  'test/src/serve-command.test.ts',
  'test/src/tail-ends.test.ts',
  'test/src/tail-restart.test.ts',
  'test/src/tail.test.ts',
  'test/store/export.test.ts',
  'test/store/failing-disk.test.ts',
  'test/store/feed-kill.test.ts',
  'test/store/feed-retention.test.ts',
  'test/store/feed.test.ts',
  'test/store/packed-log.test.ts',
  'test/store/recovery.test.ts',
  'test/store/retention.test.ts',
  'test/store/row-search.test.ts',
  'test/store/seal.test.ts',
  'test/store/thread-policy.test.ts',
];

/** Generous limits for what hangs, on a machine that is slow and busy with other things; no measurements. */
const PATIENT = { hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };

export default defineConfig({
  test: {
    projects: [
      {
        // What needs neither a Kafka broker nor a process of its own: query, sql, store, HTTP.
        test: {
          ...PATIENT,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/broker/**', 'test/property/**', 'test/rooms/**', ...SLOW],
          testTimeout: 120_000,
        },
      },
      {
        test: { ...PATIENT, name: 'slow', include: SLOW, testTimeout: 300_000 },
      },
      {
        // Random requests against the slow oracle; room rules broken on purpose.
        test: {
          ...PATIENT,
          name: 'property',
          include: ['test/property/**/*.test.ts', 'test/rooms/**/*.test.ts'],
          testTimeout: 600_000,
        },
      },
      {
        // A real Apache Kafka broker; one file at a time because the machine has one broker.
        test: {
          ...PATIENT,
          name: 'broker',
          include: ['test/broker/**/*.test.ts'],
          testTimeout: 600_000,
          fileParallelism: false,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
    ],
  },
});

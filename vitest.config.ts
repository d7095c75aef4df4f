import { defineConfig } from 'vitest/config';

/** Tests that start processes, kill them, or wait for what the program does by itself after a while. */
const SLOW = 'test/**/*.slow.test.ts';

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
          exclude: ['test/broker/**', 'test/property/**', 'test/rooms/**', SLOW],
          testTimeout: 120_000,
        },
      },
      {
        test: { ...PATIENT, name: 'slow', include: [SLOW], testTimeout: 300_000 },
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

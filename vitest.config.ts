import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        // Everything that needs no Kafka broker: query, sql, store, HTTP. Under 30 seconds.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/broker/**', 'test/property/**', 'test/rooms/**'],
          testTimeout: 30_000,
        },
      },
      {
        // Random requests against the slow oracle; room rules broken on purpose.
        test: { name: 'property', include: ['test/property/**/*.test.ts', 'test/rooms/**/*.test.ts'], testTimeout: 600_000 },
      },
      {
        // A real Apache Kafka broker; one file at a time because the machine has one broker.
        test: {
          name: 'broker',
          include: ['test/broker/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          globalSetup: ['test/broker/broker-setup.ts'],
        },
      },
    ],
  },
});

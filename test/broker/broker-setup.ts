import type { TestProject } from 'vitest/node';
import { startBroker } from './kafka-broker.ts';
import { withAdmin } from './test-topic.ts';
import { until } from './until.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port`, comma-separated where there are several. */
    readonly kafkaBrokers: string;
  }
}

/** Finds the broker that the tests share: the one that KAFKA_BROKERS names, or one of its own. Fails the run when there is none. */
export default async function setUpBroker(project: TestProject): Promise<() => Promise<void>> {
  const outside = process.env['KAFKA_BROKERS'];
  if (outside !== undefined && outside !== '') {
    project.provide('kafkaBrokers', outside);
    return async () => {};
  }
  const broker = await startBroker();
  await coordinatesGroups(broker.address);
  project.provide('kafkaBrokers', broker.address);
  return () => broker.stop();
}

/** Waits until a new broker has made its topic of group offsets: before that, who joins a group is told to come again. */
async function coordinatesGroups(address: string): Promise<void> {
  await withAdmin(address, (admin) =>
    until(
      'the broker to coordinate groups',
      () =>
        admin.fetchOffsets({ groupId: 'nobody' }).then(
          () => 'it does',
          (error: Error) => error.message,
        ),
      (answer) => answer === 'it does',
    ),
  );
}

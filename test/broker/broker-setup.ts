import type { TestProject } from 'vitest/node';
import { startBroker } from './kafka-broker.ts';

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
  project.provide('kafkaBrokers', broker.address);
  return () => broker.stop();
}

import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { mendRequestTimer } from '../../../ingest/kafka/kafka-request-timer.ts';

interface Queue {
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  maybeThrottle(ms: number): void;
  checkPendingRequests(): void;
  destroy(): void;
}

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (options: object) => Queue;

it('kafkajs arms its throttle timer only when it is throttled, and never with a negative delay', () => {
  mendRequestTimer();
  mendRequestTimer();
  const silent = () => silentLog;
  const silentLog = { namespace: silent, debug: silent };
  const queue = new RequestQueue({ requestTimeout: 1000, clientId: 'test', broker: 'test:1', logger: silentLog, isConnected: () => true });
  try {
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
    queue.maybeThrottle(60_000);
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
  } finally {
    queue.destroy();
  }
});

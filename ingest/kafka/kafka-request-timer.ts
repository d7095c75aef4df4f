import { createRequire } from 'node:module';

/** The parts of kafkajs's `network/requestQueue` that are looked at here. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
}

const mended = Symbol.for('shieldlog.kafkajs.requestTimerMended');

/**
 * kafkajs 2.2.4 arms a timer after every response to look at requests that wait for a throttle to end, also when none waits and none is
 * throttled; the delay is then negative, which Node 24 answers with a `TimeoutNegativeWarning`. Here such a timer is not armed at all.
 * Nothing is missed: a request that comes to wait later arms the timer itself.
 */
export function mendRequestTimer(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue & { [mended]?: true } };
  if (prototype[mended] === true) {
    return;
  }
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) {
      schedule.call(this);
    }
  };
  prototype[mended] = true;
}

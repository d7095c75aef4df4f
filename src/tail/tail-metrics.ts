import { Counter, Gauge, type Registry } from 'prom-client';
import type { TailHub } from './tail-hub.ts';

/** Shows the tail on `/metrics`. */
export function registerTailMetrics(registry: Registry, hub: TailHub): void {
  new Gauge({
    name: 'shieldlog_tail_watchers',
    help: 'Clients of the live tail',
    registers: [registry],
    collect() {
      this.set(hub.watcherCount);
    },
  });
  new Counter({
    name: 'shieldlog_tail_events_total',
    help: 'Events sent to clients of the live tail (sent), and left out because they did not read (dropped)',
    labelNames: ['verdict'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [verdict, count] of Object.entries(hub.totals)) this.inc({ verdict }, count);
    },
  });
}

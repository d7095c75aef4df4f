import type { Registry } from 'prom-client';
import { levelRead } from '../http/metric-registry.ts';
import type { FairQueue } from './fair-queue.ts';

/** Shows on `/metrics` how many reads wait, read, and go on after their interrupt. */
export function registerQueueMetrics(registry: Registry, queue: Pick<FairQueue, 'waiting' | 'reading' | 'leftOver'>): void {
  levelRead(registry, 'shieldlog_reads_waiting', 'Reads of the store that wait for their turn', () => queue.waiting);
  levelRead(registry, 'shieldlog_reads_under_way', 'Reads of the store that have a seat', () => queue.reading);
  levelRead(registry, 'shieldlog_reads_left_over', 'Reads that go on after their interrupt', () => queue.leftOver);
}

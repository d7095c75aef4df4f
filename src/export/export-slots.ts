import type { Registry } from 'prom-client';
import type { Semaphore } from '../../work/semaphore.ts';
import { counterIn, levelRead } from '../http/metric-registry.ts';
import { RequestProblem } from '../http/problem.ts';

/** An export holds a part of the processor and of the memory for as long as its client reads, so only so many run at once. */
export const EXPORTS_AT_ONCE = 4;

/** Takes one of the slots of exports, which does not wait. Throws RequestProblem `store.busy` where all are taken. */
export function takeExportSlot(slots: Pick<Semaphore, 'tryTake' | 'taken'>): Disposable {
  const slot = slots.tryTake();
  if (slot !== null) return slot;
  const detail = `${slots.taken} exports are under way; allowed: at most ${EXPORTS_AT_ONCE} at once`;
  throw new RequestProblem('store.busy', detail, { headers: { 'retry-after': '10' } });
}

/** Registers the metrics of exports; the gauge of those under way follows `slots`. */
export function createExportMetrics(registry: Registry, slots: Pick<Semaphore, 'taken'>) {
  levelRead(registry, 'shieldlog_exports_under_way', 'Exports that are being sent', () => slots.taken);
  return {
    exports: counterIn(
      registry,
      'shieldlog_exports_total',
      'Exports that have ended: sent, deadline, idle (the client did not read), hung_up or failed',
      'format',
      'outcome',
    ),
    events: counterIn(registry, 'shieldlog_exported_events_total', 'Events that exports have written', 'format'),
  };
}

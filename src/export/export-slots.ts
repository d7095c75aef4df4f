import type { Counter, Registry } from 'prom-client';
import { counterIn, levelRead } from '../http/metric-registry.ts';
import { RequestProblem } from '../http/problem.ts';

/** An export holds a part of the processor and of the memory for as long as its client reads, so only so many run at once. */
export const EXPORTS_AT_ONCE = 4;

/** Counts the exports that are under way. */
export class ExportSlots {
  #taken = 0;

  get taken(): number {
    return this.#taken;
  }

  /** Takes a slot and returns the function that gives it back. Throws RequestProblem `store.busy` if all are taken. */
  take(): () => void {
    if (this.#taken >= EXPORTS_AT_ONCE) {
      const detail = `${this.#taken} exports are under way; allowed: at most ${EXPORTS_AT_ONCE} at once`;
      throw new RequestProblem('store.busy', detail, { headers: { 'retry-after': '10' } });
    }
    this.#taken += 1;
    let isGivenBack = false;
    return () => {
      if (!isGivenBack) this.#taken -= 1;
      isGivenBack = true;
    };
  }
}

export interface ExportMetrics {
  /** Exports that have ended. */
  readonly exports: Counter<'format' | 'outcome'>;
  /** Events handed over to be sent. */
  readonly events: Counter<'format'>;
}

/** Registers the metrics of exports; the gauge of those under way follows `slots`. */
export function createExportMetrics(registry: Registry, slots: Pick<ExportSlots, 'taken'>): ExportMetrics {
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

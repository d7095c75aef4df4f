import { Counter, Gauge, type Registry } from 'prom-client';

/** How an export ended. */
export type ExportOutcome = 'sent' | 'deadline' | 'idle' | 'hung_up' | 'failed';

export interface ExportMetrics {
  /** Exports that have ended. */
  readonly exports: Counter<'format' | 'outcome'>;
  /** Events handed over to be sent. */
  readonly events: Counter<'format'>;
}

export function createExportMetrics(registry: Registry, underWay: () => number): ExportMetrics {
  new Gauge({
    name: 'shieldlog_exports_under_way',
    help: 'Exports that are being sent',
    registers: [registry],
    collect() {
      this.set(underWay());
    },
  });
  return {
    exports: new Counter({
      name: 'shieldlog_exports_total',
      help: 'Exports that have ended: sent, deadline, idle (the client did not read), hung_up or failed',
      labelNames: ['format', 'outcome'],
      registers: [registry],
    }),
    events: new Counter({
      name: 'shieldlog_exported_events_total',
      help: 'Events that exports have written',
      labelNames: ['format'],
      registers: [registry],
    }),
  };
}

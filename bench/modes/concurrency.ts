import autocannon from 'autocannon';
import type { EngineName } from '../engines/engine.ts';
import { withEngine } from '../engines/engine-client.ts';
import type { ConcurrencyFigures } from '../report/race-result.ts';
import type { Workload } from './workload.ts';

export interface ConcurrencyOrder {
  readonly dataDir: string;
  readonly workloads: readonly Workload[];
  readonly clients: readonly number[];
  readonly seconds: number;
  readonly memoryLimitMb: number;
}

/** Measures several clients at once. Each sends one workload after the other over HTTP and waits for the answers. */
export async function measureConcurrency(name: EngineName, order: ConcurrencyOrder): Promise<ConcurrencyFigures[]> {
  const { dataDir, workloads, clients, seconds, memoryLimitMb } = order;
  return await withEngine(name, { dataDir, memoryLimitMb }, async (engine) => {
    const url = await engine.listen();
    const requests = workloads.map(({ zone, body }) => ({
      method: 'POST' as const,
      path: `/shield/event-logs/${zone}/search`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }));
    const figures: ConcurrencyFigures[] = [];
    for (const connections of clients) {
      const result = await autocannon({ url, connections, duration: seconds, requests, timeout: 60 });
      figures.push({
        clients: connections,
        requestsPerSecond: result['2xx'] / result.duration,
        p50Ms: result.latency.p50,
        p99Ms: result.latency.p99,
        errors: result.errors + result.timeouts + result.non2xx,
      });
    }
    return figures;
  });
}

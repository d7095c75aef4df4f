// The program whose exports are measured, in a separate process, so that its memory is measured apart from the client's. It is started with
// its order as JSON in the first argument and sends its report as one message.
import { pino } from 'pino';
import { HOUR_MS } from '../../query/durations.ts';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type OpenStore, openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';
import type { ExportClientReport, ExportRun } from './export-client.ts';
import { type FilledStore, fillStore } from './fill-store.ts';
import { forkSubject } from './fork-subject.ts';

/** Fill the folder with the events of one zone, or serve the folder and have it exported. */
export type ExportOrder =
  | { readonly kind: 'fill'; readonly dataDir: string; readonly events: number; readonly memoryLimitMb: number }
  | {
      readonly kind: 'export';
      readonly dataDir: string;
      readonly events: number;
      readonly memoryLimitMb: number;
      readonly runs: readonly ExportRun[];
    };

export interface ExportReport {
  /** Resident memory of the program when the store was open and after some searches. */
  readonly openRssBytes: number;
  readonly warmRssBytes: number;
  readonly exports: readonly (ExportClientReport & ExportRun & { readonly peakRssBytes: number })[];
}

const RETENTION_MS = 72 * HOUR_MS;
const ZONE = 1;
const WINDOW = { fromMs: BENCH_NOW_MS - RETENTION_MS, toMs: BENCH_NOW_MS + 1 };
/** Pages of a search before the first export. They give the program the memory of one that has served for a while. */
const WARMING_PAGES = 200;
const SAMPLE_MS = 10;

const order = JSON.parse(process.argv[2] ?? '{}') as ExportOrder;
const now = () => BENCH_NOW_MS;
const { dataDir, memoryLimitMb } = order;
const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
process.send?.(order.kind === 'fill' ? await fill(order.events) : await exportAll(order.runs));
await store.close();

function fill(count: number): Promise<FilledStore> {
  return fillStore(store, { seed: 1, count, zones: ZONE, nowMs: BENCH_NOW_MS, spanMs: 71 * HOUR_MS }, RETENTION_MS);
}

async function exportAll(runs: readonly ExportRun[]): Promise<ExportReport> {
  const logger = pino({ level: 'silent' });
  const app = await buildApp({ store, config: loadConfig({ DATA_DIR: dataDir }), now, logger, kafka: null });
  const url = await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
  const openRssBytes = process.memoryUsage.rss();
  await search(store);
  const warmRssBytes = process.memoryUsage.rss();
  const exports: ExportReport['exports'][number][] = [];
  for (const run of runs) {
    let peakRssBytes = 0;
    const sampler = setInterval(() => {
      peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
    }, SAMPLE_MS);
    const body = JSON.stringify({ from: WINDOW.fromMs, to: WINDOW.toMs });
    const client = { ...run, url: `${url}/shield/event-logs/${ZONE}/export`, body };
    const report = await forkSubject<ExportClientReport>('export-client.ts', client);
    clearInterval(sampler);
    exports.push({ ...run, ...report, peakRssBytes });
  }
  await app.close();
  return { openRssBytes, warmRssBytes, exports };
}

async function search(warmed: OpenStore): Promise<void> {
  for (let index = 0; index < WARMING_PAGES; index += 1) {
    await warmed.search({
      zones: [ZONE],
      window: WINDOW,
      where: { kind: 'everything' },
      page: { index, size: 500 },
      output: { kind: 'rows' },
    });
  }
}

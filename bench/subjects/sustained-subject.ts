// The program that takes in events with the clock, in a separate process. It is started with its order as JSON in the first argument and
// sends its measurements as one message.
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { HOUR_MS } from '../../query/durations.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { startBackgroundSearches, timeSearch } from '../engines/timed-searches.ts';
import { pacedChunks, readThrough } from '../events/file-chunks.ts';

/** The order to take in a file with the clock. */
export interface SustainedOrder {
  readonly dataDir: string;
  /** NDJSON. */
  readonly file: string;
  readonly eventsPerSecond: number;
  /** The present of the program when the first event comes, Unix milliseconds. */
  readonly fromMs: number;
  readonly memoryLimitMb: number;
}

/** The measurements of ten seconds. */
export interface SustainedRow {
  /** Milliseconds from the first event to the end of the ten seconds. */
  readonly endedMs: number;
  /** Events that became searchable. */
  readonly eventsPerSecond: number;
  readonly unflushedEvents: number;
  readonly segments: number;
  /** Milliseconds of each of a dashboard's searches. */
  readonly searchMs: readonly number[];
  /** CPU time of all threads, searches included. */
  readonly cpuMsPerSecond: number;
  readonly residentBytes: number;
}

const RETENTION_MS = 72 * HOUR_MS;
const ROW_MS = 10_000;
/** The period of searches. A search that takes longer delays the next one. */
const SEARCH_EVERY_MS = 250;

const { dataDir, file, eventsPerSecond, fromMs, memoryLimitMb } = JSON.parse(process.argv[2] ?? '{}') as SustainedOrder;
await readThrough(file);
let began = performance.now();
const now = (): number => fromMs + Math.round(performance.now() - began);
const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now }, { cachesCounts: false });

const rows: SustainedRow[] = [];
let searchMs: number[] = [];
let [rowBegan, cpu, events] = [performance.now(), process.cpuUsage(), (await store.stats()).events];
began = rowBegan;

async function endRow(): Promise<void> {
  const stats = await store.stats();
  const seconds = (performance.now() - rowBegan) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  rows.push({
    endedMs: performance.now() - began,
    eventsPerSecond: (stats.events - events) / seconds,
    unflushedEvents: stats.unflushedEvents,
    segments: stats.segments,
    searchMs,
    cpuMsPerSecond: (user + system) / 1_000 / seconds,
    residentBytes: process.memoryUsage.rss(),
  });
  [rowBegan, cpu, events, searchMs] = [performance.now(), process.cpuUsage(), stats.events, []];
}

const timer = setInterval(() => void endRow(), ROW_MS);
const searches = startBackgroundSearches(async (search) => {
  const timed = await timeSearch(store, search);
  searchMs.push(timed.elapsedMs);
  return timed;
}, SEARCH_EVERY_MS);
try {
  await takeInEvents(pacedChunks(file, eventsPerSecond), { store, source: 'file', now, retentionMs: RETENTION_MS });
} finally {
  clearInterval(timer);
  await searches.stop();
}
await endRow();
await store.close();
process.send?.(rows);

// The program that takes in events as they come with the clock, in a process of its own. Started with what to do as JSON in the first
// argument; sends what it measured as one message.
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { openStore } from '../../store/embedded/open-store.ts';
import { startBackgroundSearches } from '../engines/background-search.ts';
import { timeSearch } from '../engines/time-search.ts';
import { readThrough } from '../events/file-chunks.ts';
import { pacedChunks } from '../events/paced-chunks.ts';
import type { SustainedOrder, SustainedRow } from './sustained-subject-report.ts';

const RETENTION_MS = 72 * 3_600_000;
const ROW_MS = 10_000;
/** Between searches, or none where the one before took longer. */
const SEARCH_EVERY_MS = 250;

const { dataDir, file, eventsPerSecond, fromMs, memoryLimitMb } = JSON.parse(process.argv[2] ?? '{}') as SustainedOrder;
await readThrough(file);
let began = performance.now();
const now = (): number => fromMs + Math.round(performance.now() - began);
const store = await openStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now, cachesCounts: false });

const rows: SustainedRow[] = [];
let searchMs: number[] = [];
let [rowBegan, cpu, events] = [performance.now(), process.cpuUsage(), store.stats().events];
began = rowBegan;

function endRow(): void {
  const seconds = (performance.now() - rowBegan) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const stats = store.stats();
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

const timer = setInterval(endRow, ROW_MS);
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
endRow();
await store.close();
process.send?.(rows);

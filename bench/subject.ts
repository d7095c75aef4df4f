// The program under test in a process of its own, so that its memory can be told from the harness's. Started by run-subject.ts with what to
// do as JSON in the first argument; sends what it measured as one message.
import { takeInEvents } from '../ingest/event-intake.ts';
import { type OpenStore, openStore } from '../store/open-store.ts';
import { startBackgroundSearches } from './background-search.ts';
import { BENCH_NOW_MS } from './event-file.ts';
import { expectedTotals } from './expected-totals.ts';
import { fileChunks } from './file-chunks.ts';
import type { SubjectOrder, SubjectReport, WorkloadReport } from './subject-report.ts';
import { timeSearch } from './time-search.ts';
import { WORKLOADS } from './workload.ts';

const RETENTION_MS = 72 * 3_600_000;

const order = JSON.parse(process.argv[2] ?? '{}') as SubjectOrder;
const started = Date.now();
// The events' present, going on at the pace of ours.
const now = () => BENCH_NOW_MS + Date.now() - started;

async function takeIn(store: OpenStore): Promise<SubjectReport['intake']> {
  const background = startBackgroundSearches(store);
  const start = performance.now();
  const { accepted, expired, rejectedCount } = await takeInEvents(fileChunks(order.file), {
    store,
    source: 'file',
    now,
    retentionMs: RETENTION_MS,
  });
  const elapsedMs = performance.now() - start;
  const searchMs = await background.stop();
  if (accepted !== order.events || expired !== 0 || rejectedCount !== 0) {
    throw new Error(`of ${order.events} events ${accepted} were accepted, ${expired} expired and ${rejectedCount} rejected`);
  }
  return { elapsedMs, searchMs };
}

async function runWorkloads(store: OpenStore): Promise<WorkloadReport[]> {
  const reports: WorkloadReport[] = [];
  for (const { name, body } of WORKLOADS) {
    const times: number[] = [];
    let total = 0;
    for (let run = 0; run < order.searchRuns; run += 1) {
      const timed = await timeSearch(store, body);
      times.push(timed.elapsedMs);
      total = timed.total;
    }
    reports.push({ name, total, times });
  }
  return reports;
}

/** What differs between the store's totals and those counted from the file itself, in words. */
async function findWrongTotals(store: OpenStore, when: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const { name, body, total } of await expectedTotals(order.file)) {
    const found = (await timeSearch(store, body)).total;
    if (found !== total) {
      wrong.push(`${name}, ${when}: ${found}, the file has ${total}`);
    }
  }
  return wrong;
}

const store = await openStore({ dataDir: order.dataDir, memoryLimitMb: order.memoryLimitMb, retentionMs: RETENTION_MS, now });
const intake = await takeIn(store);
const peakRssBytes = process.resourceUsage().maxRSS * 1024;
const wrongTotals = order.checkTotals ? await findWrongTotals(store, 'while hot') : [];
await store.sealNow();
await store.compactNow();
wrongTotals.push(...(order.checkTotals ? await findWrongTotals(store, 'sealed and compacted') : []));
const workloads = await runWorkloads(store);
const { segments, segmentBytes } = store.stats();
await store.close();
process.send?.({
  intake,
  peakRssBytes,
  searchPeakRssBytes: process.resourceUsage().maxRSS * 1024,
  workloads,
  wrongTotals,
  segments,
  segmentBytes,
} satisfies SubjectReport);

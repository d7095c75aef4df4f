// Measures records of another product against the same events in our own form, by the embedded store, to the answer:
//   node --initial-old-space-size=128 --max-semi-space-size=4 bench/mapped-intake-speed.ts [rounds]
// Both take turns in one process, each when the flushes of what came before are done: the slower one would have most of them otherwise. A
// line has the best of the rounds, and their median. The option is that of the program: without it V8 collects the heap of the main
// thread at every few thousand records. Needs Linux, which tells what a thread has taken.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { loadMappings } from '../ingest/mapping/named-mappings.ts';
import { RecordMapper } from '../ingest/mapping/record-mapper.ts';
import { takeInEvents } from '../ingest/upload/event-intake.ts';
import { MappingThreads } from '../ingest/upload/mapping-threads.ts';
import type { InputMapping } from '../ingest/upload/record-input.ts';
import { HOUR_MS } from '../query/durations.ts';
import type { EventStore } from '../store/event-store.ts';
import { openStore } from '../store/open-store.ts';
import { inEmptyDataDir } from './events/event-file.ts';
import { wafRecord } from './events/waf-record.ts';
import { median } from './report/figures.ts';

const RECORDS = 5_000;
/** As they come from a socket. */
const CHUNK_BYTES = 64 * 1024;
/** So long a time has to be quiet. */
const REST_MS = 100;
const rounds = Number(process.argv[2] ?? 30);
const ZONES = { given: 7, fallback: null, opened: 'all' } as const;

const mappings = loadMappings(null);
const preset = mappings.get('aws-waf');
if (preset === undefined) throw new Error('there is no preset aws-waf');
const mapper = new RecordMapper(preset.mapping, { given: 7, fallback: null, opens: () => true });

type Form = 'own form' | 'mapped';

/** The lines of a round, in chunks. No round has a record of another. */
function bodyOf(form: Form, round: number): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let index = 0; index < RECORDS; index++) {
    const record = wafRecord(round * RECORDS + index, Date.now() - (index % 3_000) * 1_000);
    if (form === 'mapped') lines.push(record);
    else mapper.map(record, (one) => void (one.kind === 'event' && lines.push(one.event)));
  }
  const body = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
  return Array.from({ length: Math.ceil(body.length / CHUNK_BYTES) }, (_, chunk) =>
    body.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES),
  );
}

/** What a round took. */
interface Cost {
  /** Microseconds a record. */
  readonly cpu: number;
  /** Those of them of each kind of thread. */
  readonly threads: ReadonlyMap<string, number>;
  readonly perSecond: number;
}

const MAIN = 'the main thread';
/** The threads of Node, by the names that it gives them. */
const THREADS: readonly (readonly [name: string, kind: string])[] = [
  ['WorkerThread', 'threads of our own'],
  ['V8Worker', 'the garbage collector'],
  ['libuv-worker', 'files'],
];
const OTHERS = 'DuckDB and others';

/** Microseconds of CPU that each thread has taken so far, with its kind, by its number. */
function threadsUs(): ReadonlyMap<string, readonly [kind: string, us: number]> {
  return new Map(
    readdirSync('/proc/self/task').map((id) => {
      const read = (file: string): string => readFileSync(`/proc/self/task/${id}/${file}`, 'utf8');
      const name = read('comm').trim();
      const kind = Number(id) === process.pid ? MAIN : (THREADS.find(([known]) => name.startsWith(known))?.[1] ?? OTHERS);
      return [id, [kind, Number(read('schedstat').split(' ')[0]) / 1_000]];
    }),
  );
}

/** Microseconds a record of each kind of thread since `before`. A thread that has ended meanwhile is not counted. */
function threadsSince(before: ReturnType<typeof threadsUs>): ReadonlyMap<string, number> {
  const taken = new Map<string, number>();
  for (const [id, [kind, us]] of threadsUs()) taken.set(kind, (taken.get(kind) ?? 0) + (us - (before.get(id)?.[1] ?? 0)) / RECORDS);
  return taken;
}

/** Waits until the process has next to nothing to do. */
async function atRest(): Promise<void> {
  for (let usedUs = Number.POSITIVE_INFINITY; usedUs > REST_MS * 50; ) {
    const before = process.cpuUsage();
    await delay(REST_MS);
    const { user, system } = process.cpuUsage(before);
    usedUs = user + system;
  }
}

async function costOf(store: EventStore, chunks: readonly Buffer[], mapping: InputMapping | undefined): Promise<Cost> {
  async function* body(): AsyncIterable<Buffer> {
    yield* chunks;
  }
  const [began, cpu, before] = [performance.now(), process.cpuUsage(), threadsUs()];
  const options = {
    store,
    source: 'http',
    now: Date.now,
    retentionMs: 72 * HOUR_MS,
    ...(mapping === undefined ? {} : { mapping }),
  } as const;
  const report = await takeInEvents(body(), options);
  const [ms, ofAll, threads] = [performance.now() - began, process.cpuUsage(cpu), threadsSince(before)];
  if (report.accepted !== RECORDS || report.duplicates !== 0) throw new Error(`not all were stored: ${JSON.stringify(report)}`);
  return {
    cpu: (ofAll.user + ofAll.system) / RECORDS,
    threads,
    perSecond: (RECORDS / ms) * 1_000,
  };
}

const best = (all: readonly number[]): number => Math.min(...all);
const shown = (all: readonly number[]): string => `${best(all).toFixed(1)} (${median(all).toFixed(1)})`;
const ofThread = (costs: readonly Cost[], kind: string): readonly number[] => costs.map(({ threads }) => threads.get(kind) ?? 0);

async function main(dataDir: string): Promise<void> {
  const threads = new MappingThreads(mappings);
  const store = await openStore({
    kind: 'embedded',
    dataDir,
    memoryLimitMb: 1_024,
    retentionMs: 72 * HOUR_MS,
    deadLetterRetentionMs: HOUR_MS,
    deadLetterQuotaBytes: 1024 ** 2,
    now: Date.now,
    logger: pino({ level: 'silent' }),
    onFatal: (error) => {
      throw error;
    },
  });
  const costs = { 'own form': [] as Cost[], mapped: [] as Cost[] };
  // The first rounds start threads and compile.
  for (let round = 0; round < rounds + 2; round++) {
    const inTurn: readonly Form[] = round % 2 === 0 ? ['own form', 'mapped'] : ['mapped', 'own form'];
    for (const form of inTurn) {
      const mapping = form === 'mapped' ? { threads, name: 'aws-waf', zones: ZONES } : undefined;
      const body = bodyOf(form, 2 * round + (form === 'mapped' ? 1 : 0));
      await atRest();
      const cost = await costOf(store, body, mapping);
      if (round >= 2) costs[form].push(cost);
    }
  }
  await threads.close();
  await store.close();
  for (const form of ['own form', 'mapped'] as const) {
    const perSecond = costs[form].map((cost) => cost.perSecond);
    console.log(`${form}: ${Math.round(Math.max(...perSecond))} (${Math.round(median(perSecond))}) records/s`);
    console.log(`  µs of CPU ${shown(costs[form].map(({ cpu }) => cpu))}`);
    for (const kind of [MAIN, ...THREADS.map(([, named]) => named), OTHERS])
      console.log(`    ${kind} ${shown(ofThread(costs[form], kind))}`);
  }
  const times = (take: (all: readonly Cost[]) => readonly number[]): string =>
    [best, median].map((sum) => (sum(take(costs.mapped)) / sum(take(costs['own form']))).toFixed(2)).join(' and ');
  const [cpu, main] = [times((all) => all.map((cost) => cost.cpu)), times((all) => ofThread(all, MAIN))];
  console.log(`mapped takes ${cpu} times the CPU, ${main} times the main thread`);
}

await inEmptyDataDir('mapped-intake', main);

// Measures records of another product against the same events in our own form, by the embedded store, to the answer:
//   node bench/mapped-intake-speed.ts [rounds]
// Both take turns in one process, each when the flushes of what came before are done: the slower one would have most of them otherwise. A
// line has the medians of the rounds.
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

const RECORDS = 10_000;
/** As they come from a socket. */
const CHUNK_BYTES = 64 * 1024;
/** So long a time has to be quiet. */
const REST_MS = 100;
const rounds = Number(process.argv[2] ?? 15);
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

/** In microseconds a record, but for the last. */
interface Cost {
  readonly cpu: number;
  readonly mainThread: number;
  readonly perSecond: number;
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
  const [began, cpu, main] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
  const options = {
    store,
    source: 'http',
    now: Date.now,
    retentionMs: 72 * HOUR_MS,
    ...(mapping === undefined ? {} : { mapping }),
  } as const;
  const report = await takeInEvents(body(), options);
  const [ms, ofAll, ofMain] = [performance.now() - began, process.cpuUsage(cpu), process.threadCpuUsage(main)];
  if (report.accepted !== RECORDS || report.duplicates !== 0) throw new Error(`not all were stored: ${JSON.stringify(report)}`);
  return {
    cpu: (ofAll.user + ofAll.system) / RECORDS,
    mainThread: (ofMain.user + ofMain.system) / RECORDS,
    perSecond: (RECORDS / ms) * 1_000,
  };
}

const of = (costs: readonly Cost[], what: keyof Cost): number => median(costs.map((cost) => cost[what]));
const median = (all: readonly number[]): number => all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN;

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
    const [cpu, main, perSecond] = [of(costs[form], 'cpu'), of(costs[form], 'mainThread'), of(costs[form], 'perSecond')];
    console.log(
      `${form.padEnd(10)} ${cpu.toFixed(1)} µs of CPU, ${main.toFixed(1)} of them on the main thread  ${Math.round(perSecond)}/s`,
    );
  }
  const times = (what: 'cpu' | 'mainThread'): string =>
    median(costs.mapped.map((cost, round) => cost[what] / (costs['own form'][round]?.[what] ?? Number.NaN))).toFixed(2);
  console.log(`mapped     ${times('cpu')} times the CPU, ${times('mainThread')} times the main thread`);
}

await inEmptyDataDir('mapped-intake', main);

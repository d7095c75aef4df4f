// Measures what the program costs over ClickHouse itself: it is asked over HTTP, and hand-written statements ask the same table on the same
// server with the same settings:
//   node bench/clickhouse-store-speed.ts [--events 5000000] [--runs 5] [--only 01,14]
// With two numbers, as in `--events 1000000,5000000`, it measures both and prints the constants of docs/scale.md.
// The server is that of CLICKHOUSE_URL, in a database of its own, or a process of its own, as the tests have it.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { compileSearch } from '../query/request/compile-search.ts';
import { createEventsTable, INSERTED_COLUMNS } from '../sql/clickhouse/schema.ts';
import { searchJson } from '../src/http/search-json.ts';
import { ClickhouseClient } from '../store/clickhouse/server/client.ts';
import type { ClickhouseAddress } from '../store/clickhouse/server/connection.ts';
import { uncounted, wholeAnswer } from '../test/fixtures/whole-answer.ts';
import { searchClickhouse } from './engines/clickhouse-search.ts';
import { type ClickhouseTable, storeTable } from './engines/clickhouse-statements.ts';
import { BENCH_NOW_MS, benchOptions, eventFile, inEmptyDataDir } from './events/event-file.ts';
import { bodiesOf, readThrough } from './events/file-chunks.ts';
import { differencesBetween, loadWorkloads, type Workload } from './modes/workload.ts';
import { givenOptions, integerOption } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { count, line, percentile, show, tell, textTable } from './report/figures.ts';
import { geometricMean } from './report/race-summary.ts';
import { measuredOnThisMachine, type StoreMeasurement, scaleConstants } from './report/scale-constants.ts';
import { clickhouseServer } from './subjects/clickhouse-server.ts';
import { forkedSubject } from './subjects/fork-subject.ts';

const { events, runs, only } = givenOptions({ events: '5000000', runs: 5, only: '' });
const sizes = events.split(',').map((one) => integerOption('events', one));

const BODY_BYTES = 4 * 1024 * 1024;
const BODIES_AT_ONCE = 16;
/** Rows of one INSERT by hand: about as many as the program sends in one at full speed. */
const ROWS_BY_HAND = 20_000;
/** So many events are also taken in by hand. */
const ALSO_BY_HAND = 500_000;
const FEED_EVENTS = 1_000_000;
/** Of Linux, whatever the machine. */
const CLOCK_TICK_MICROS = 10_000;

/** No answer is compressed, neither by the program nor for the statements by hand. */
const PLAIN = { 'accept-encoding': 'identity' };

interface Taken {
  readonly events: number;
  readonly perSecond: number;
}

/** The same with microseconds of one core an event. */
interface Cost extends Taken {
  readonly program: number;
  readonly server: number;
  readonly client: number;
}

/** Processor time of processes, in microseconds since they began; 0 where the system does not tell. */
async function cpuMicros(pids: readonly (number | undefined)[]): Promise<number[]> {
  return await Promise.all(
    pids.map(async (pid) => {
      const stat = pid === undefined ? '' : await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The name of the program, in brackets, may have spaces. User and system time are the 12th and 13th field behind it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * CLOCK_TICK_MICROS;
    }),
  );
}

/** Sends bodies to the program, some at once, until they are all there or it has so many events. */
async function takeIn(url: string, bodies: AsyncIterator<Buffer>, most: number): Promise<Taken> {
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  let taken = 0;
  while (taken < most) {
    const { done, value } = await bodies.next();
    if (done === true) break;
    const sent: Promise<void> = send(url, value).then((stored) => {
      taken += stored;
      underWay.delete(sent);
    });
    underWay.add(sent);
    if (underWay.size === BODIES_AT_ONCE) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  return { events: taken, perSecond: taken / ((performance.now() - began) / 1000) };
}

/** Resolves with the number of events that were taken. */
async function send(url: string, body: Buffer): Promise<number> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await fetch(`${url}/ingest/events`, { method: 'POST', headers, body: new Uint8Array(body) });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`the intake answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { readonly accepted: number }).accepted;
}

/** Stores the same rows in a table of the same kind, as JSONEachRow and in one INSERT after the other; events a second. */
async function takeInByHand(client: ClickhouseClient, most: number): Promise<number> {
  await client.run({ text: createEventsTable({ table: 'by_hand' }), params: [] });
  const columns = INSERTED_COLUMNS.map((name) => `"${name}"`).join(', ');
  let ms = 0;
  for (let from = 0; from < most; from += ROWS_BY_HAND) {
    const rows = Math.min(ROWS_BY_HAND, most - from);
    const some = `SELECT ${columns} FROM events_local ORDER BY seq LIMIT ${from}, ${rows} FORMAT JSONEachRow`;
    const body = await client.readBytes({ text: some, params: [] });
    const began = performance.now();
    await client.insert({ text: `INSERT INTO by_hand (${columns}) FORMAT JSONEachRow`, params: [] }, { data: [body], rows });
    ms += performance.now() - began;
  }
  await client.run({ text: 'DROP TABLE by_hand', params: [] });
  return most / (ms / 1000);
}

/** A way to ask for the answer of a workload. */
interface Way {
  readonly name: string;
  readonly ask: (workload: Workload) => Promise<string>;
}

function program(url: string): Way {
  return {
    name: 'program',
    ask: async ({ zone, body }) => {
      const headers = { 'content-type': 'application/json', ...PLAIN };
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(`${url}/shield/event-logs/${zone}/search`, request);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`a search was answered ${response.status}: ${text}`);
      return text;
    },
  };
}

function byHand(name: string, client: ClickhouseClient, table: ClickhouseTable): Way {
  const settings = { output_format_json_quote_64bit_integers: 0 };
  const ask = async (text: string) => {
    const { rows, rowsBeforeLimit } = await client.read({ text, params: [] }, { settings });
    return { data: rows, rows_before_limit_at_least: rowsBeforeLimit };
  };
  return {
    name,
    ask: async ({ zone, body }) => {
      const plan = compileSearch(Buffer.from(JSON.stringify(body)), { zoneId: zone, nowMs: BENCH_NOW_MS });
      const answer = await searchClickhouse(plan, { ask, table });
      return (await wholeAnswer(searchJson(answer, plan.page, uncounted))).toString();
    },
  };
}

interface Raced {
  /** Events of the zone of the first workload. */
  readonly zoneEvents: number;
  /** Milliseconds of the program, by the number that the name of the workload begins with. */
  readonly searches: ReadonlyMap<string, number>;
}

/** Compares the answers, and times the ways in turns. Prints a table of medians, and what the program takes of the first way by hand. */
async function race(when: string, workloads: readonly Workload[], ways: readonly Way[]): Promise<Raced> {
  const searches = new Map<string, number>();
  let zoneEvents = Number.NaN;
  const rows: string[][] = [];
  const shares: number[] = [];
  for (const workload of workloads) {
    tell(`${when}: ${workload.title}`);
    const answers = await Promise.all(ways.map(async ({ name, ask }) => ({ engine: name, answer: JSON.parse(await ask(workload)) })));
    for (const difference of differencesBetween(workload.name, answers)) throw new Error(difference);
    if (workload === workloads[0]) zoneEvents = answers[0]?.answer.total;
    const times = ways.map((): number[] => []);
    for (let run = 0; run < runs; run += 1) {
      for (const [nth, { ask }] of ways.entries()) {
        const began = performance.now();
        await ask(workload);
        times[nth]?.push(performance.now() - began);
      }
    }
    const medians = times.map((some) => percentile(some, 0.5));
    const share = (medians[0] ?? 0) / (medians[1] ?? 0);
    shares.push(share);
    const number = workload.name.slice(0, 2);
    searches.set(number, medians[0] ?? Number.NaN);
    rows.push([`${number} ${workload.title}`, ...medians.map((ms) => ms.toFixed(0)), share.toFixed(2)]);
  }
  rows.push(['geometric mean', ...ways.map(() => ''), geometricMean(shares).toFixed(2)]);
  show(`${textTable(`Searches, ${when}: medians of ${runs} in ms`, ['', ...ways.map(({ name }) => name), 'program / by hand'], rows)}\n`);
  return { zoneEvents, searches };
}

/** Reads the first events of all zones; events a second. */
async function readFeed(url: string): Promise<Taken> {
  const began = performance.now();
  let [read, cursor] = [0, ''];
  for (let more = true; more && read < FEED_EVENTS; ) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`;
    const response = await fetch(`${url}/shield/event-logs/all/feed?limit=100000${after}`, { headers: PLAIN });
    const text = Buffer.from(await response.arrayBuffer());
    const last = JSON.parse(text.toString('utf8', text.lastIndexOf('\n', -2) + 1)) as { cursor: string; more: boolean; count: number };
    read += last.count;
    ({ cursor, more } = last);
  }
  return { events: read, perSecond: read / ((performance.now() - began) / 1000) };
}

async function mergeAll(all: number, merge: () => Promise<void>): Promise<Taken> {
  const began = performance.now();
  await merge();
  return { events: all, perSecond: all / ((performance.now() - began) / 1000) };
}

async function measure(folder: string, file: string, wanted: number): Promise<StoreMeasurement> {
  const server = await clickhouseServer(folder);
  const database = `shieldlog_bench_${process.pid}`;
  const user = process.env['CLICKHOUSE_USER'] ?? 'default';
  const address: ClickhouseAddress = { urls: [server.url], user, password: process.env['CLICKHOUSE_PASSWORD'] ?? '', database };
  const subject = forkedSubject('clickhouse-program-subject.ts', address);
  const [url] = (await once(subject, 'message')) as [string];
  const client = new ClickhouseClient(address, { idleMs: 3_600_000 });
  const run = (text: string) => client.run({ text, params: [] });
  const pids = [subject.pid, server.pid, process.pid];
  /** Shows what something took: events a second, and the processor time of program and server. */
  const timed = async (what: string, work: Promise<Taken>): Promise<Cost> => {
    const before = await cpuMicros(pids);
    const taken = await work;
    const after = await cpuMicros(pids);
    const [ofProgram = 0, ofServer = 0, ofClient = 0] = after.map((micros, nth) => (micros - (before[nth] ?? 0)) / taken.events);
    show(line(what, `${count(taken.perSecond)} events/s`));
    show(line('  processor time of program and server', `${ofProgram.toFixed(1)} and ${ofServer.toFixed(1)} µs an event`));
    return { ...taken, program: ofProgram, server: ofServer, client: ofClient };
  };
  const stored = async (): Promise<number> => {
    const where = `active AND database = '${database}' AND table = 'events_local'`;
    const { rows } = await client.read({
      text: `SELECT count(), sum(rows), sum(bytes_on_disk) FROM system.parts WHERE ${where}`,
      params: [],
    });
    const [parts = 0, copies = 0, bytes = 0] = (rows[0] ?? []).map(Number);
    show(line('  parts; bytes an event', `${count(parts)}; ${count(bytes / copies)}`));
    return bytes / copies;
  };
  try {
    show(`${circumstancesText(circumstances({ clickhouse: server.kind }))}\n`);
    tell(`${count(wanted)} events come in`);
    const bodies = bodiesOf(file, BODY_BYTES);
    const first = await timed('intake over HTTP of the first events', takeIn(url, bodies, ALSO_BY_HAND));
    const hand = await takeInByHand(client, first.events);
    show(line('  the same rows as JSONEachRow, by hand', `${count(hand)} events/s (${(first.perSecond / hand).toFixed(2)})`));
    const others = await timed('intake of the others', takeIn(url, bodies, wanted));
    const bytesOfEvent = await stored();
    const feed = await timed('feed of all zones', readFeed(url));
    const workloads = (await loadWorkloads()).filter(({ name }) => only.split(',').some((some) => name.startsWith(some)));
    const [final, copies] = [storeTable({ hasCopies: false }), storeTable({ hasCopies: true })];
    const ways = [program(url), byHand('by hand', client, final), byHand('without FINAL', client, copies)];
    await race('as the events came in', workloads, ways);
    tell('everything is merged');
    const merge = () => mergeAll(wanted, () => run('OPTIMIZE TABLE events_local FINAL'));
    await timed('merged', merge());
    await stored();
    await timed('feed of all zones, merged', readFeed(url));
    const raced = await race('merged', workloads, ways);
    return { ...raced, events: wanted, intakePerSecond: others.perSecond, intake: others, feed, bytes: bytesOfEvent };
  } finally {
    subject.disconnect();
    await once(subject, 'exit');
    await run(`DROP DATABASE ${database}`);
    await client.close();
    await server.close();
  }
}

/** Prints numbers by their names, as a table of docs/scale.md has them. */
function showNumbers(title: string, numbers: ReadonlyMap<string, number>): void {
  const rows = [...numbers].map(([name, number]) => [name, number < 100 ? number.toPrecision(3) : count(number)]);
  show(`${textTable(title, ['', 'measured'], rows)}\n`);
}

const measured: StoreMeasurement[] = [];
for (const size of sizes) {
  const { path } = await eventFile(benchOptions(size));
  await readThrough(path);
  await inEmptyDataDir('clickhouse', async (folder) => void measured.push(await measure(folder, path, size)));
}
const [million, several] = measured;
if (million !== undefined && several !== undefined) {
  showNumbers('Constants of docs/scale.md', scaleConstants(million, several, availableParallelism()));
  showNumbers('What docs/scale.md says of this machine', measuredOnThisMachine(million, several));
}

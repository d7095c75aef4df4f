// Runs in the program, before it (`node --import`), and tells its parent what the program takes: CPU time, for which it does not count what
// else runs on the machine, and resident memory.
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { EmbeddedStore } from '../../store/embedded/embedded-store.ts';

/** What the program took since the last reset. */
export interface Readings {
  /** Milliseconds of CPU time of the main thread between two turns of a timer of 5 ms, at most. */
  readonly turnMs: number;
  /** The requests that were under way then. */
  readonly turnDuring: string;
  /** How long this processor takes for the same work, in multiples of the time of the processor for which the limit is written. */
  readonly slowness: number;
  /** MiB. */
  readonly peakMemoryMib: number;
  /** Milliseconds of CPU time of the process from the first interrupt of a statement until it ended, or until now, at most. */
  readonly interruptedMs: number;
  readonly interruptedStatement: string;
  /** Statements that run now, and those of them that were interrupted. */
  readonly running: number;
  readonly runningInterrupted: number;
}

export interface ProbeRequest {
  readonly id: number;
  readonly ask: 'reset' | 'read' | 'flush' | 'compact';
}

export type ProbeReply = { readonly id: number } & ({ readonly readings: Readings } | { readonly error: string });

const LOOK_EVERY_MS = 5;
/** A text for JSON.parse, and the milliseconds that it takes on the processor for which the limits are written. */
const REFERENCE_TEXT = JSON.stringify(Array.from({ length: 2_000 }, (_, nth) => ({ a: nth, b: `text ${nth}`, c: [1, 2, 3] })));
const REFERENCE_MS = 0.6;
const REFERENCE_ROUNDS = 20;
const SHOWN_CHARACTERS = 200;

interface Statement {
  readonly text: string;
  interruptedAtMs: number | undefined;
}

const totalMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
const processMs = (): number => totalMs(process.cpuUsage());
const mainThreadMs = (): number => totalMs(process.threadCpuUsage());

let lastLookMs = mainThreadMs();
let turn = { ms: 0, during: '' };
let interrupted = { ms: 0, statement: '' };
let highestSampleMib = 0;
let hasResetPeak = false;
let store: EmbeddedStore | undefined;
const requests = new Map<ServerResponse, string>();
/** Requests that ended since the last look. */
const endedRequests: string[] = [];
const statements = new Map<DuckDBConnection, Statement>();

function look(): void {
  const nowMs = mainThreadMs();
  if (nowMs - lastLookMs > turn.ms) turn = { ms: nowMs - lastLookMs, during: counted([...requests.values(), ...endedRequests]) };
  lastLookMs = nowMs;
  endedRequests.length = 0;
  if (!hasResetPeak) highestSampleMib = Math.max(highestSampleMib, process.memoryUsage.rss() / 1024 ** 2);
}

function counted(labels: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].map(([label, count]) => `${count} ${label}`).join(', ');
}

function noteInterrupt({ text, interruptedAtMs }: Statement): void {
  if (interruptedAtMs === undefined) return;
  const ms = processMs() - interruptedAtMs;
  if (ms > interrupted.ms) interrupted = { ms, statement: text.slice(0, SHOWN_CHARACTERS) };
}

function peakMemoryMib(): number {
  const kilobytes = hasResetPeak ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] : undefined;
  return kilobytes === undefined ? highestSampleMib : Number(kilobytes) / 1024;
}

function reset(): void {
  look();
  turn = { ms: 0, during: '' };
  interrupted = { ms: 0, statement: '' };
  highestSampleMib = 0;
  try {
    // Sets VmHWM to what is resident now.
    writeFileSync('/proc/self/clear_refs', '5');
    hasResetPeak = true;
  } catch {
    // Not on Linux, or not allowed: the peak is that of the samples.
    hasResetPeak = false;
  }
}

/** Machines differ, and one from minute to minute, by 2 and more. The best of some rounds is not one beside another program. */
function slowness(): number {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < REFERENCE_ROUNDS; round += 1) {
    const beganMs = performance.now();
    JSON.parse(REFERENCE_TEXT);
    bestMs = Math.min(bestMs, performance.now() - beganMs);
  }
  return bestMs / REFERENCE_MS;
}

function read(): Readings {
  look();
  for (const statement of statements.values()) noteInterrupt(statement);
  return {
    turnMs: turn.ms,
    turnDuring: turn.during,
    slowness: slowness(),
    peakMemoryMib: peakMemoryMib(),
    interruptedMs: interrupted.ms,
    interruptedStatement: interrupted.statement,
    running: statements.size,
    runningInterrupted: [...statements.values()].filter(({ interruptedAtMs }) => interruptedAtMs !== undefined).length,
  };
}

async function answer({ ask }: ProbeRequest): Promise<Readings> {
  if (ask === 'reset') reset();
  if (ask === 'flush') await openedStore().flushNow();
  if (ask === 'compact') await openedStore().compactNow();
  return read();
}

function openedStore(): EmbeddedStore {
  if (store === undefined) throw new Error('nothing was appended to the store');
  return store;
}

/** A connection runs one statement at a time. */
async function watched<T>(connection: DuckDBConnection, text: string, work: Promise<T>): Promise<T> {
  const statement: Statement = { text, interruptedAtMs: undefined };
  statements.set(connection, statement);
  try {
    return await work;
  } finally {
    noteInterrupt(statement);
    if (statements.get(connection) === statement) statements.delete(connection);
  }
}

function watchStatements(prototype: DuckDBConnection): void {
  const { run, stream, interrupt } = prototype;
  prototype.run = function (this: DuckDBConnection, text, ...bound) {
    return watched(this, text, run.call(this, text, ...bound));
  };
  prototype.stream = async function (this: DuckDBConnection, text, ...bound) {
    const result = await watched(this, text, stream.call(this, text, ...bound));
    const fetchChunk = result.fetchChunk.bind(result);
    result.fetchChunk = () => watched(this, text, fetchChunk());
    return result;
  };
  prototype.interrupt = function (this: DuckDBConnection) {
    const statement = statements.get(this);
    if (statement !== undefined) statement.interruptedAtMs ??= processMs();
    interrupt.call(this);
  };
}

function watchStore(prototype: EmbeddedStore): void {
  const { append } = prototype;
  prototype.append = function (this: EmbeddedStore, batch) {
    store = this;
    return append.call(this, batch);
  };
}

function watchRequests(): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
    const label = `${request.method} ${request.url?.split('?')[0]}`;
    requests.set(response, label);
    response.once('close', () => {
      requests.delete(response);
      endedRequests.push(label);
    });
  });
}

// Its threads and processes get the same arguments.
if (isMainThread && process.argv.includes('serve')) {
  watchStatements((await import('@duckdb/node-api')).DuckDBConnection.prototype);
  watchStore((await import('../../store/embedded/embedded-store.ts')).EmbeddedStore.prototype);
  watchRequests();
  setInterval(look, LOOK_EVERY_MS).unref();
  process.on('message', (request: ProbeRequest) => {
    answer(request).then(
      (readings) => process.send?.({ id: request.id, readings } satisfies ProbeReply),
      (error: Error) => process.send?.({ id: request.id, error: String(error.stack) } satisfies ProbeReply),
    );
  });
  // A parent that is gone, because its run was interrupted, wants nothing any more.
  process.on('disconnect', () => process.exit());
}

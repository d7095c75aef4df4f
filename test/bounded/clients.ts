import { type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { eventually } from '../fixtures/eventually.ts';
import { type EventNumber, type EventValues, eventLine } from './event-values.ts';
import { keyOf, type MeasuredProgram } from './measured-program.ts';
import { MARKER, type RequestKind, tailPath, type WireRequest, wireRequest } from './requests.ts';

/** What goes wrong at the side of the client: it goes away while a statement runs for it, or does not read its answer. */
export type ClientFault = 'none' | 'hang-up' | 'unread';

/** What came of one request. A client that left on purpose, or had read nothing, has no end. */
export interface Outcome {
  readonly kind: RequestKind;
  readonly end: 'whole' | 'left' | 'broken';
  readonly status: number | undefined;
  /** The beginning of the answer where that is an error, or why there is none. */
  readonly told: string;
}

export interface Client {
  readonly program: MeasuredProgram;
  readonly caller: number;
  /** Among all clients. */
  readonly number: number;
  readonly fault: ClientFault;
  readonly values: EventValues;
  /** Resolves when all clients without a fault are through. */
  readonly othersDone: Promise<unknown>;
}

/** The status of an intake in which all is stored. */
export const ACCEPTED = 202;

const TOLD_CHARACTERS = 300;
/** Bytes of a batch of events, about. */
const BATCH_BYTES = 16 * 1024 ** 2;
const BATCH_EVENTS = 50_000;
/** What a client that takes part in the load of intake sends. */
const SENT_BYTES = 2 * 1024 ** 2;
const SENT_EVENTS = 2_000;

/** Batches of events, the last of which are the oldest: as many as fit into 16 MiB each. */
export function* eventBatches(values: EventValues, events: number, spreadMs: number, batch = 0): Generator<Uint8Array> {
  const newest = Date.now();
  const step = spreadMs / Math.max(1, events);
  const perBatch = Math.max(1, Math.min(BATCH_EVENTS, Math.floor(BATCH_BYTES / values.bytes)));
  for (let first = 0; first < events; first += perBatch) {
    const numbers = Array.from(
      { length: Math.min(perBatch, events - first) },
      (_, index): EventNumber => ({ batch, index: first + index }),
    );
    const lines = numbers.map((number) => eventLine(values, number, Math.floor(newest - number.index * step)));
    yield gzipSync(lines.join('\n'), { level: 1 });
  }
}

interface Sent extends Omit<WireRequest, 'body'> {
  readonly body?: Uint8Array | string | undefined;
  readonly signal?: AbortSignal;
}

/** Resolves with the answer, whose body has not been read. */
function send(program: MeasuredProgram, caller: number, { method, path, headers, body, signal }: Sent): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  const options = { method, headers: { ...headers, AccessKey: keyOf(caller) }, agent: program.agent, ...(signal && { signal }) };
  const sent = request(`${program.address}${path}`, options, answered.resolve);
  sent.on('error', answered.reject);
  sent.end(body);
  return answered.promise;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return text;
}

/** Sends events, of which every one is valid. */
export async function takeIn(program: MeasuredProgram, lines: Uint8Array, caller = 0): Promise<Outcome> {
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
  const answer = await send(program, caller, { method: 'POST', path: '/ingest/events', headers, body: lines });
  const status = answer.statusCode;
  const text = await textOf(answer);
  if (status === ACCEPTED && (JSON.parse(text) as { readonly rejectedCount: number }).rejectedCount !== 0) {
    throw new Error(`events of the test are rejected: ${text.slice(0, TOLD_CHARACTERS)}`);
  }
  return { kind: 'intake', end: 'whole', status, told: text.slice(0, TOLD_CHARACTERS) };
}

/** Asks, and reads or does not read what is answered. Never rejects for what the program does. */
export async function askAs(client: Client, kind: RequestKind): Promise<Outcome> {
  try {
    switch (kind) {
      case 'tail':
        return await watchTail(client);
      case 'intake':
        return await sendEvents(client);
      default:
        return await askWhole(client, kind, wireRequest(kind, client.values, client.number, Date.now()));
    }
  } catch (error) {
    client.program.requireRunning();
    return { kind, end: 'broken', status: undefined, told: String((error as Error).stack) };
  }
}

async function askWhole(client: Client, kind: RequestKind, wire: WireRequest): Promise<Outcome> {
  const { program, caller, fault } = client;
  const leaving = new AbortController();
  const answered = send(program, caller, { ...wire, signal: leaving.signal });
  if (fault === 'hang-up') await hangUp(client, answered, leaving);
  if (leaving.signal.aborted) return { kind, end: 'left', status: undefined, told: 'hung up' };
  const answer = await answered;
  const status = answer.statusCode;
  if (fault === 'unread' && status === 200) {
    // The program may cut it off meanwhile.
    answer.on('error', () => undefined);
    await client.othersDone;
    answer.destroy();
    return { kind, end: 'left', status, told: 'not read' };
  }
  let told = '';
  for await (const chunk of answer) if (status !== 200) told += String(chunk);
  return { kind, end: 'whole', status, told: told.slice(0, TOLD_CHARACTERS) };
}

/** Goes away as soon as a statement runs, unless the answer is there before. */
async function hangUp({ program }: Client, answered: Promise<unknown>, leaving: AbortController): Promise<void> {
  let isAnswered = false;
  const settled = answered.then(
    () => undefined,
    () => undefined,
  );
  void settled.then(() => {
    isAnswered = true;
  });
  await eventually('a statement runs', async () => isAnswered || (await program.read()).running > 0);
  if (!isAnswered) leaving.abort();
  await settled;
}

async function sendEvents({ program, caller, number, values }: Client): Promise<Outcome> {
  const events = Math.max(1, Math.min(SENT_EVENTS, Math.floor(SENT_BYTES / values.bytes)));
  const [lines = new Uint8Array()] = eventBatches(values, events, 1_000, 1 + number);
  return await takeIn(program, lines, caller);
}

/** Watches while events come in, until an event comes that was sent behind them. It is sent again where the tail left it out. */
async function watchTail(client: Client): Promise<Outcome> {
  const { program, caller, number } = client;
  const answer = await send(program, caller, { method: 'GET', path: tailPath(client.values, number), headers: {} });
  const status = answer.statusCode;
  if (status !== 200) return { kind: 'tail', end: 'whole', status, told: (await textOf(answer)).slice(0, TOLD_CHARACTERS) };
  let isMarked = false;
  let rest = '';
  const watching = (async () => {
    for await (const chunk of answer) {
      const text = rest + String(chunk);
      isMarked ||= text.includes(`"${MARKER}"`);
      rest = text.slice(-MARKER.length - 2);
    }
  })();
  let failure: unknown;
  watching.catch((error: unknown) => {
    failure = error;
  });
  await sendEvents(client);
  let markers = 0;
  await eventually('the tail shows its last event', async () => {
    if (failure !== undefined) throw failure;
    if (isMarked) return true;
    markers += 1;
    const event = { shieldZoneId: 1, timestamp: Date.now(), logId: `marker-${number}-${markers}`, ua: MARKER };
    await takeIn(program, gzipSync(JSON.stringify(event)), caller);
    return isMarked;
  });
  answer.destroy();
  await watching.catch(() => undefined);
  return { kind: 'tail', end: 'left', status, told: 'at its end' };
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BulkItems, bulkItemBytes, type EnvelopeFault } from '../../../ingest/doors/envelope.ts';
import type { EnvelopeName } from '../../../ingest/doors/take-apart.ts';
import { storeHasRoom } from '../../../ingest/event/pending-appends.ts';
import { type IntakeReport, type RejectedEvent, UnreadableInput } from '../../../ingest/upload/intake-report.ts';
import { type InputMapping, mappedPiecesOf } from '../../../ingest/upload/record-input.ts';
import { callerOf, type KeyPlace } from '../../auth/access.ts';
import { ROOM_MS } from '../../http/body-memory.ts';
import { uploadEncoding } from '../../http/content-negotiation.ts';
import { errorAnswerIn, type ShapedProblem } from '../../http/error-answers.ts';
import { Deadline, DeadlinePassed, hangUpSignal } from '../../http/interruption.ts';
import { RequestProblem } from '../../http/problem.ts';
import { DOOR_BODY_BYTES, decodedBody } from '../../http/request-body.ts';
import { readQuery } from '../../http/request-parameters.ts';
import { type IngestEventsRoutesOptions, mappingOf, recordReaders, takeInUpload } from '../ingest-events.ts';

export type DoorOptions = Omit<IngestEventsRoutesOptions, 'maxBytes'>;

/** What the routes of a door get. */
export interface DoorRoutesOptions extends DoorOptions {
  readonly intake: DoorIntake;
}

/** After so many seconds a client that was told that there is no room, no disk or no program may try again. */
export const RETRY_AFTER = { 'retry-after': '5' };

/**
 * A request with more records that are no events is not read on. Shippers drop what is refused, so these are kept; 32 MiB have no more
 * unless they are shorter than any log of a firewall.
 */
export const MOST_DOOR_LETTERS = 100_000;

/** A record that is no event, by its index among those of the request. */
export interface RefusedRecord {
  readonly index: number;
  readonly reason: string;
}

/** What became of the records of a request, all of which are on the disk or counted. */
export interface DoorOutcome {
  readonly records: number;
  /** Of an envelope whose items are answered one by one. */
  readonly items?: BulkItems;
  readonly report: IntakeReport;
  /** Why a client must not be told of success: none of the records is an event, or one of them is kept nowhere. Null where it may be. */
  readonly refusal: RefusedRecord | null;
}

/** An envelope that could not be taken apart. */
export class BrokenEnvelope extends Error {
  override readonly name = 'BrokenEnvelope';
  readonly fault: EnvelopeFault;

  constructor(fault: EnvelopeFault) {
    super(fault.reason);
    this.fault = fault;
  }
}

/** The configuration of a route that takes records in. */
export function doorConfig(...takesKeyIn: readonly KeyPlace[]) {
  // A body waits for room instead of being refused at once.
  return { config: { needsScope: 'ingest', takesKeyIn, bodyNeeds: () => 0 }, bodyLimit: DOOR_BODY_BYTES } as const;
}

/** Whether what comes in can be stored. What it cannot for stands in the log. */
export async function isHealthy({ log }: FastifyRequest, { store }: Pick<DoorOptions, 'store'>): Promise<boolean> {
  const reasons = await store.reasonsNotReady();
  if (reasons.length > 0) log.info({ reasons }, 'not ready');
  return reasons.length === 0;
}

/** Takes in the records of requests: events of our own form, or what a mapping makes events of. */
export class DoorIntake {
  readonly #options: DoorOptions;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** Throws RequestProblem for a mapping that there is not, and a zone that the key does not open. */
  requireMapping(request: FastifyRequest): void {
    this.#mappingOf(request);
  }

  /**
   * Reads the body whole, takes it apart and stores its records. Throws RequestProblem, of the cause BrokenEnvelope where the body is no
   * such envelope: then nothing is stored.
   */
  async take(request: FastifyRequest, reply: FastifyReply, envelope: EnvelopeName): Promise<DoorOutcome> {
    const { bodies } = this.#options;
    using held = bodies.open(request);
    const body = await decodedBody(request, held, bodies.deadlineMs);
    held.keep();
    const mapping = this.#mappingOf(request);
    const signal = hangUpSignal(reply.raw);
    const taken = await this.#takenApart(envelope, body, mapping, signal);
    if (taken.kind === 'fault') {
      const errorKey = taken.isTooLarge === true ? 'body.too_large' : 'request.malformed';
      throw new RequestProblem(errorKey, taken.reason, { cause: new BrokenEnvelope(taken) });
    }
    using underWay = taken.underWay;
    const { count, items, rest } = taken;
    // What was unpacked may be more than the body was.
    const arrays = [rest.bytes, rest.starts, rest.ends].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    await held.whenRoom(() => held.hold('body', arrays + (items === undefined ? 0 : bulkItemBytes(items))));
    const report = await takeInUpload(this.#options, callerOf(request), mapping, signal, {
      source: 'http',
      memory: held,
      maxRejected: MOST_DOOR_LETTERS,
      // A record counts as a line.
      input: underWay === null ? { records: rest } : { mapped: mappedPiecesOf(underWay, (record) => record + 1) },
    });
    return { records: count, report, refusal: refusalOf(report), ...(items && { items }) };
  }

  /** Counts what an answer is made of until it is written, or its client has gone. Throws RequestProblem `store.busy` without room. */
  holdAnswer(request: FastifyRequest, { raw }: FastifyReply, bytes: number): void {
    const held = this.#options.bodies.open(request);
    held.hold('body', bytes);
    held.keep();
    if (raw.closed) held[Symbol.dispose]();
    else raw.once('close', () => held[Symbol.dispose]());
  }

  /** Reads the body of a request that has no records. */
  async read(request: FastifyRequest): Promise<Buffer> {
    const { bodies } = this.#options;
    using held = bodies.open(request);
    return (await decodedBody(request, held, bodies.deadlineMs)).subarray(0, -1);
  }

  /** By `mapping` and `zone` of the query, whose other parameters are the shipper's. */
  #mappingOf(request: FastifyRequest): InputMapping | undefined {
    const { mapping, zone } = request.query as Readonly<Record<string, unknown>>;
    const { mapping: threads } = this.#options;
    return mappingOf(readQuery({ mapping, zone }, recordReaders([...threads.mappings.keys()])), callerOf(request), threads);
  }

  /** Takes a body apart once store and threads have room for it. Throws RequestProblem `store.busy` where they have none in ROOM_MS. */
  async #takenApart(envelope: EnvelopeName, body: Buffer<ArrayBuffer>, mapping: InputMapping | undefined, signal: AbortSignal) {
    const { store, mapping: threads } = this.#options;
    const how = mapping === undefined ? undefined : { mapping: mapping.name, zones: mapping.zones };
    using room = new Deadline(ROOM_MS, signal);
    try {
      await storeHasRoom(store, room.signal);
      return await threads.takeApart(envelope, body, how, room.signal);
    } catch (error) {
      if (error instanceof UnreadableInput) throw new RequestProblem('request.malformed', error.message, { cause: error });
      if (!(error instanceof DeadlinePassed)) throw error;
      throw new RequestProblem('store.busy', 'The program is behind; send everything again later');
    }
  }
}

function refusalOf({ rejected, accepted, expired, leftOut = 0 }: IntakeReport): RefusedRecord | null {
  const lost = rejected.find(({ kept }) => kept === false);
  if (lost !== undefined) return refusedRecord(lost);
  const [first] = rejected;
  return first !== undefined && accepted + expired + leftOut === 0 ? refusedRecord(first) : null;
}

/** A record of which something was rejected. A mapping may make several of it, so that `index` is not its place in the request. */
export function refusedRecord({ line, reason, kept }: RejectedEvent): RefusedRecord {
  const isNotKept = kept === false ? '; it is not kept as a dead letter, because DEAD_LETTER_MAX_MB is used up' : '';
  return { index: line - 1, reason: reason + isNotKept };
}

/** An error in the words of a protocol, with the status that it has there where that is another than of the problem. */
export type ErrorWords = Pick<ShapedProblem, 'type' | 'body'> & Partial<Pick<ShapedProblem, 'status'>>;

/**
 * Answers errors of the routes of `app` in the words of a protocol, also of methods that their paths lack, and counts its answers as those
 * of the door. Bodies are left to `DoorIntake`, and a compression that it does not know is refused before the body is read.
 */
export function openDoor(
  app: FastifyInstance,
  { metrics }: Pick<DoorOptions, 'metrics'>,
  door: string,
  wordsOf: (problem: RequestProblem, request: FastifyRequest) => ErrorWords,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  const shapeOf = (problem: RequestProblem, request: FastifyRequest): ShapedProblem => {
    const { status, headers } = problem;
    return { status, headers: { ...headers, ...(status === 503 ? RETRY_AFTER : {}) }, ...wordsOf(problem, request) };
  };
  app.setErrorHandler(errorAnswerIn(shapeOf));
  app.addHook('onRequest', async ({ method, headers }) => {
    if (method !== 'GET' && method !== 'HEAD') uploadEncoding(headers['content-encoding']);
  });
  app.addHook('onResponse', async (_request, { statusCode }) => {
    metrics.doorRequests.inc({ door, status: String(statusCode) });
  });
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => {
    if (paths.has(url)) return;
    paths.add(url);
    // Fastify has the hooks and the error handler of a prefix for what it does not find there. `errorAnswers` throws in its hook.
    void app.register(async (at) => void at.setNotFoundHandler(() => undefined), { prefix: url });
  });
}

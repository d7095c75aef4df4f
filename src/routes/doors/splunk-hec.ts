import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HEC_CODES } from '../../../ingest/doors/splunk-hec.ts';
import type { EnvelopeName } from '../../../ingest/doors/take-apart.ts';
import type { RequestProblem } from '../../http/problem.ts';
import { SEARCH_BODY_BYTES } from '../../http/request-body.ts';
import { BrokenEnvelope, type DoorRoutesOptions, doorConfig, type ErrorWords, isHealthy, openDoor, RETRY_AFTER } from './door.ts';

/** Texts of Splunk by its codes. */
const TEXTS = {
  0: 'Success',
  2: 'Token is required',
  3: 'Invalid authorization',
  4: 'Invalid token',
  5: 'No data',
  6: 'Invalid data format',
  9: 'Server is busy',
  10: 'Data channel is missing',
  12: 'Event field is required',
  13: 'Event field cannot be blank',
  17: 'HEC is healthy',
  18: 'HEC is unhealthy',
} as const;

type HecCode = keyof typeof TEXTS;

interface HecAnswer {
  readonly code: HecCode;
  /** What is wrong, behind the text of the code. */
  readonly reason?: string;
  /** The event at which it is, from 0. */
  readonly event?: number | null;
  readonly ackId?: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

function hecBody({ code, reason, event, ackId }: HecAnswer): string {
  return JSON.stringify({
    text: reason === undefined ? TEXTS[code] : `${TEXTS[code]}: ${reason}`,
    code,
    ...(event === undefined || event === null ? {} : { 'invalid-event-number': event }),
    ...(ackId === undefined ? {} : { ackId }),
  });
}

function codeOf({ errorKey, status, cause }: RequestProblem, { headers }: FastifyRequest): HecCode {
  if (errorKey === 'access.key_missing') return (headers.authorization ?? '').trim() === '' ? 2 : 3;
  if (errorKey.startsWith('access.')) return 4;
  if (status === 503) return 9;
  return cause instanceof BrokenEnvelope ? ((cause.fault.code ?? HEC_CODES.invalidData) as HecCode) : HEC_CODES.invalidData;
}

function hecError(problem: RequestProblem, request: FastifyRequest): ErrorWords {
  const code = codeOf(problem, request);
  const { status, message: reason, cause } = problem;
  const event = cause instanceof BrokenEnvelope ? cause.fault.index : null;
  // A key that is not known is 403 there.
  return { status: code === 4 ? 403 : status, type: JSON_TYPE, body: hecBody({ code, reason, event }) };
}

/** Ids of acknowledgements: microseconds of the clock, each later than the one before, so that a restart gives none a second time. */
class AckIds {
  readonly #now: () => number;
  #last = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, this.#now() * 1_000);
    return this.#last;
  }
}

/** The channel of a request; undefined where it has none. */
function channelOf({ headers, query }: FastifyRequest): string | undefined {
  const channel = headers['x-splunk-request-channel'] ?? (query as Readonly<Record<string, unknown>>)['channel'];
  return typeof channel === 'string' && channel !== '' ? channel : undefined;
}

/** The ids that a poll asks about; null where it is no such poll. */
function askedIds(body: Uint8Array): readonly number[] | null {
  try {
    const { acks } = JSON.parse(Buffer.from(body).toString()) as { readonly acks?: unknown };
    return Array.isArray(acks) && acks.every((id) => Number.isSafeInteger(id) && id >= 0) ? acks : null;
  } catch {
    return null;
  }
}

/** `/services/collector`: Splunk's HTTP event collector. Success means that all is on the disk, so that every acknowledgement is true. */
export async function splunkHecRoutes(app: FastifyInstance, options: DoorRoutesOptions): Promise<void> {
  openDoor(app, options, 'splunk-hec', hecError);
  // Any type is taken, and the framework refuses what is none, such as `x`.
  app.addHook('onRequest', async ({ raw }) => void delete raw.headers['content-type']);
  const { intake } = options;
  const acks = new AckIds(options.now);
  const config = doorConfig('authorization');

  const answer = (reply: FastifyReply, status: number, body: HecAnswer): FastifyReply =>
    reply.code(status).type(JSON_TYPE).send(hecBody(body));

  const takeIn = (envelope: EnvelopeName) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { records, refusal } = await intake.take(request, reply, envelope);
    if (records === 0) return answer(reply, 400, { code: 5 });
    if (refusal !== null) return answer(reply, 400, { code: HEC_CODES.invalidData, reason: refusal.reason, event: refusal.index });
    return answer(reply, 200, { code: 0, ...(channelOf(request) === undefined ? {} : { ackId: acks.next() }) });
  };

  const records = { ...config, onRequest: async (request: FastifyRequest) => intake.requireMapping(request) };
  for (const path of ['', '/event', '/event/1.0']) app.post(`/services/collector${path}`, records, takeIn('hec events'));
  for (const path of ['/raw', '/raw/1.0']) app.post(`/services/collector${path}`, records, takeIn('hec lines'));

  // What was answered is on the disk: nothing is remembered, and every id is acknowledged.
  app.post('/services/collector/ack', { ...config, bodyLimit: SEARCH_BODY_BYTES }, async (request, reply) => {
    if (channelOf(request) === undefined) return answer(reply, 400, { code: 10 });
    const ids = askedIds(await intake.read(request));
    if (ids === null) return answer(reply, 400, { code: HEC_CODES.invalidData, reason: 'allowed: {"acks":[…]} with ids of answers' });
    return reply.type(JSON_TYPE).send(JSON.stringify({ acks: Object.fromEntries(ids.map((id) => [id, true])) }));
  });

  app.get('/services/collector/health', { config: { needsKey: 'never' } }, async (request, reply) => {
    const isWell = await isHealthy(request, options);
    return isWell ? answer(reply, 200, { code: 17 }) : answer(reply.headers(RETRY_AFTER), 503, { code: 18 });
  });
}

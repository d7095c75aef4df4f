import type { FastifyInstance, FastifyRequest } from 'fastify';
import { KafkaRefused } from '../../ingest/kafka/kafka-fault.ts';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { JsonLimits } from '../../query/exact-json.ts';
import { INT32, INT64 } from '../../query/integer-ranges.ts';
import type { JsonValue } from '../../query/json-value.ts';
import { BODY, ErrorList } from '../../query/request/request-errors.ts';
import { readInteger, readJson, readObject, readText } from '../../query/request/wire-readers.ts';
import { callerOf, requireEveryZone } from '../auth/access.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import { requireJsonBody } from '../http/content-negotiation.ts';
import { type ErrorKey, invalidRequest, RequestProblem } from '../http/problem.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { readQuery } from '../http/request-parameters.ts';

export interface KafkaRoutesOptions {
  /** Null where no Kafka is configured. */
  readonly kafka: KafkaSource | null;
  readonly bodies: BodyMemory;
}

interface SkipRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly to: bigint | null;
}

const BODY_LIMITS: JsonLimits = { depth: 4, values: 100 };
const PARTITIONS = { min: 0n, max: INT32.max };
const OFFSETS = { min: 0n, max: INT64.max };

/** Reads which batch is skipped. Throws RequestProblem `request.invalid`. */
function readSkipRequest(body: Uint8Array): SkipRequest {
  const errors = new ErrorList();
  const object = readObject(readJson(body, BODY_LIMITS, errors), BODY, ['topic', 'partition', 'offset', 'to'], errors);
  if (object === undefined) throw invalidRequest(errors.toArray());
  const member = (name: string): JsonValue => object.get(name) ?? null;
  const topic = readText(member('topic'), 'topic', errors);
  const partition = readInteger(member('partition'), 'partition', PARTITIONS, errors);
  const offset = readInteger(member('offset'), 'offset', OFFSETS, errors);
  const to = member('to') === null ? null : readInteger(member('to'), 'to', OFFSETS, errors);
  if (!errors.isEmpty || topic === undefined || partition === undefined || offset === undefined || to === undefined) {
    throw invalidRequest(errors.toArray());
  }
  return { topic, partition: Number(partition), offset, to };
}

interface RewindRequest {
  readonly topic: string;
  readonly sinceMs: number;
}

const TIMES = { min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) };

/** Reads which topic is read again, and since when. Throws RequestProblem `request.invalid`. */
function readRewindRequest(body: Uint8Array): RewindRequest {
  const errors = new ErrorList();
  const object = readObject(readJson(body, BODY_LIMITS, errors), BODY, ['topic', 'since'], errors);
  const topic = object && readText(object.get('topic') ?? null, 'topic', errors);
  const since = object && readInteger(object.get('since') ?? null, 'since', TIMES, errors);
  if (!errors.isEmpty || topic === undefined || since === undefined) throw invalidRequest(errors.toArray());
  return { topic, sinceMs: Number(since) };
}

/** Refuses what the headers alone make wrong. A key has to open every zone: a batch, and a topic, may hold the events of any. */
async function validateCall(request: FastifyRequest): Promise<void> {
  requireEveryZone(callerOf(request));
  readQuery(request.query, {});
  requireJsonBody(request.headers);
}

/** Has a source do something. Throws the RequestProblem of that key where it does not do it, and where there is none. */
async function done<T>(kafka: KafkaSource | null, refusal: ErrorKey, act: (kafka: KafkaSource) => Promise<T>): Promise<T> {
  try {
    if (kafka === null) throw new KafkaRefused('nothing is read from Kafka: KAFKA_BROKERS is not set');
    return await act(kafka);
  } catch (error) {
    throw error instanceof KafkaRefused ? new RequestProblem(refusal, error.message, { cause: error.cause }) : error;
  }
}

/** `POST /ingest/kafka/skip` goes past the batch that a partition waits at; `POST /ingest/kafka/rewind` has a topic read again. */
export async function kafkaRoutes(app: FastifyInstance, { kafka, bodies }: KafkaRoutesOptions): Promise<void> {
  takeWholeBodies(app, bodies);
  app.post('/ingest/kafka/skip', { config: { needsScope: 'admin' }, onRequest: validateCall }, async (request) => {
    const { topic, partition, offset, to } = readSkipRequest(wholeBody(request));
    const outcome = await done(kafka, 'kafka.skip_refused', (source) => source.skip(topic, partition, offset, to));
    return { skipped: outcome.kind === 'skipped', next: outcome.kind === 'skipped' ? String(outcome.next) : null };
  });
  app.post('/ingest/kafka/rewind', { config: { needsScope: 'admin' }, onRequest: validateCall }, async (request) => {
    const { topic, sinceMs } = readRewindRequest(wholeBody(request));
    const rewound = await done(kafka, 'kafka.rewind_refused', (source) => source.rewind(topic, sinceMs));
    return { partitions: rewound.map(({ partition, from, until }) => ({ partition, from: String(from), until: String(until) })) };
  });
}

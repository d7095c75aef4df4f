import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RecordValues } from '../../ingest/event/event-kernel.ts';
import { DECODER_BYTES, decompressed, type Encoding } from '../../ingest/upload/decompress.ts';
import { type IntakeOptions, takeInEvents, takeInMapped, takeInRecords } from '../../ingest/upload/event-intake.ts';
import type { InputForm } from '../../ingest/upload/input-splitter.ts';
import { IntakeError, type IntakeReport } from '../../ingest/upload/intake-report.ts';
import type { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import type { InputMapping, MappedInput } from '../../ingest/upload/record-input.ts';
import { BODY, elementPath, type FieldError } from '../../query/request/request-errors.ts';
import { type Caller, callerOf, mappingFor, requireZone } from '../auth/access.ts';
import { uploadZoneGuard } from '../auth/upload-zone-guard.ts';
import { ROOM_MS } from '../http/body-memory.ts';
import {
  isJsonType,
  isLineType,
  JSON_TYPES,
  LINE_TYPES,
  negotiateAnswer,
  requireContentType,
  uploadEncoding,
} from '../http/content-negotiation.ts';
import { hangUpSignal } from '../http/interruption.ts';
import type { Metrics } from '../http/metric-registry.ts';
import { asStoreProblem, invalidRequest, RequestProblem } from '../http/problem.ts';
import { steadyChunks } from '../http/request-body.ts';
import { oneOf, readQuery, zoneParameter } from '../http/request-parameters.ts';
import type { RouteServices } from './route-services.ts';

const BODY_TYPES = [...LINE_TYPES, ...JSON_TYPES].join(', ');

export interface IngestEventsRoutesOptions
  extends Pick<RouteServices, 'store' | 'turns' | 'metrics' | 'now' | 'retentionMs' | 'bodies' | 'mapping'> {
  /** The longest body, decompressed, in bytes. */
  readonly maxBytes: number;
}

/** What a request says of its records. */
type RecordQuery = { readonly mapping: string; readonly zone: number };

export const recordReaders = (mappings: readonly string[]) => ({ mapping: oneOf(...mappings), zone: zoneParameter });

interface IngestQuery {
  readonly source: 'http' | 'file';
  readonly form: 'lines' | 'any';
  readonly named: Partial<RecordQuery>;
}

function queryOf(query: unknown, { mappings }: MappingThreads): IngestQuery {
  const readers = { source: oneOf('http', 'file'), form: oneOf('lines', 'any'), ...recordReaders([...mappings.keys()]) };
  const {
    source = 'http',
    form = 'any',
    ...named
  } = readQuery<{ source: 'http' | 'file'; form: 'lines' | 'any' } & RecordQuery>(query, readers);
  return { source, form, named };
}

/**
 * How the records of a caller become events; undefined where the body has events of our own form. Throws RequestProblem `request.invalid`
 * where the request and the key name two mappings, or there is a zone and no mapping, and `access.zone_denied`.
 */
export function mappingOf(
  { mapping: named, zone }: Partial<RecordQuery>,
  caller: Caller,
  threads: MappingThreads,
): InputMapping | undefined {
  const name = mappingFor(caller, named);
  if (zone !== undefined && name === undefined) {
    throw invalidRequest([{ field: 'zone', message: 'is only allowed with mapping: an event of our own form has its shieldZoneId' }]);
  }
  if (zone !== undefined) requireZone(caller, zone);
  if (name === undefined) return undefined;
  const { zones } = caller;
  const [only = null, another] = zones === 'all' ? [] : zones;
  const fallback = another === undefined ? only : null;
  return { threads, name, waitMs: ROOM_MS, zones: { given: zone ?? null, fallback, opened: zones === 'all' ? zones : [...zones] } };
}

/** The media type of the body; null where the request names none. */
function bodyTypeOf(header: string | undefined): string | null {
  return header === undefined ? null : requireContentType(header, (type) => isJsonType(type) || isLineType(type), BODY_TYPES);
}

/** Returns the problem of an intake that stopped before the end of its input; any other error comes back as it is. */
function asIntakeProblem(error: unknown): unknown {
  if (!(error instanceof IntakeError)) return error;
  const detail = `${error.message}; sending everything again stores nothing twice`;
  const problem = asStoreProblem(error.cause);
  if (problem instanceof RequestProblem) {
    const { errorKey, headers, cause } = problem;
    return new RequestProblem(errorKey, detail, { headers, cause, ...notKeptErrors(error) });
  }
  return new RequestProblem('request.malformed', detail, { cause: error, ...notKeptErrors(error) });
}

/** Names the rejected events that are not kept as dead letters. */
function notKeptErrors({ report }: IntakeError): { readonly errors?: readonly FieldError[] } {
  const notKept = report.rejected.filter(({ kept }) => kept === false);
  if (notKept.length === 0) return {};
  const errors = notKept.map(({ index, line, reason }) => ({
    field: elementPath(BODY, index),
    message: `line ${line}: ${reason}; it is not kept as a dead letter, because those that are there use up DEAD_LETTER_MAX_MB`,
  }));
  return { errors };
}

/** Counts what became of the events of a request, or of the records that a mapping made them of. */
function countIntake(metrics: Metrics, source: 'http' | 'file', mapping: string | undefined, report: IntakeReport): void {
  const { accepted, expired, repaired, rejectedCount, leftOut = 0 } = report;
  metrics.receivedEvents.inc({ source, verdict: 'accepted' }, accepted);
  metrics.receivedEvents.inc({ source, verdict: 'expired' }, expired);
  metrics.receivedEvents.inc({ source, verdict: 'rejected' }, rejectedCount);
  metrics.repairedEvents.inc({ source }, repaired);
  if (mapping === undefined) return;
  for (const [verdict, records] of Object.entries({ accepted, expired, rejected: rejectedCount, left_out: leftOut })) {
    metrics.mappedRecords.inc({ mapping, verdict }, records);
  }
}

/** The decompressed bytes of a request, and how its events or records stand in them; its records; or what has become of them. */
interface Upload extends InputForm, Pick<IntakeOptions, 'maxRejected' | 'maxBytes'> {
  readonly input:
    | { readonly chunks: AsyncIterable<Uint8Array> }
    | { readonly records: RecordValues }
    | { readonly mapped: AsyncIterable<MappedInput> };
}

function takenIn(input: Upload['input'], intake: IntakeOptions): Promise<IntakeReport> {
  if ('records' in input) return takeInRecords(input.records, intake);
  return 'mapped' in input ? takeInMapped(input.mapped, intake) : takeInEvents(input.chunks, intake);
}

/**
 * Stores the events of a request, or what a mapping makes of its records, and counts what becomes of them. Throws the reason of `signal`
 * where the client has gone, and RequestProblem.
 */
export async function takeInUpload(
  { store, turns, metrics, now, retentionMs }: Omit<IngestEventsRoutesOptions, 'maxBytes'>,
  caller: Caller,
  mapping: InputMapping | undefined,
  signal: AbortSignal,
  { input, ...upload }: Upload,
): Promise<IntakeReport> {
  const { source } = upload;
  // Records get no zone that the caller's key does not open.
  const admit = mapping === undefined ? uploadZoneGuard(caller) : undefined;
  try {
    const intake: IntakeOptions = {
      ...upload,
      turns,
      store,
      now,
      retentionMs,
      signal,
      onCutTexts: (texts) => metrics.cutTexts.inc({ source }, texts),
      onUnknownIp: () => metrics.unknownIps.inc({ source }),
      ...(admit === undefined ? {} : { admit }),
      ...(mapping === undefined ? {} : { mapping }),
    };
    const report = await takenIn(input, intake);
    countIntake(metrics, source, mapping?.name, report);
    return report;
  } catch (error) {
    // A client that goes away looks like one whose body is broken.
    signal.throwIfAborted();
    if (error instanceof IntakeError) countIntake(metrics, source, mapping?.name, error.report);
    throw asIntakeProblem(error);
  }
}

/**
 * `POST /ingest/events`: events, or records of another product, of any number as NDJSON or JSON. 202 means that all accepted
 * events are durable.
 */
export async function ingestEventsRoutes(app: FastifyInstance, options: IngestEventsRoutesOptions): Promise<void> {
  const { maxBytes, bodies, mapping: threads } = options;
  // The body streams, and waits while the store is behind.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

  const validateHeaders = async (request: FastifyRequest): Promise<void> => {
    bodyTypeOf(request.headers['content-type']);
    uploadEncoding(request.headers['content-encoding']);
    mappingOf(queryOf(request.query, threads).named, callerOf(request), threads);
    negotiateAnswer(request.headers.accept, ['application/json']);
  };

  const isCompressed = (encoding: Encoding | 'detected'): boolean => encoding === 'gzip' || encoding === 'zstd';
  const config = {
    needsScope: 'ingest',
    takesKeyIn: ['authorization'],
    // An event is held only where its end does not come at once.
    bodyNeeds: ({ headers }: FastifyRequest) => (isCompressed(uploadEncoding(headers['content-encoding'])) ? DECODER_BYTES : 0),
  } as const;
  app.post('/ingest/events', { config, onRequest: validateHeaders, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
    const caller = callerOf(request);
    const { source, form: asked, named } = queryOf(request.query, threads);
    const isJson = source === 'file' || isJsonType(bodyTypeOf(request.headers['content-type']) ?? '');
    const form = asked === 'lines' ? asked : isJson ? 'json' : undefined;
    const signal = hangUpSignal(reply.raw);
    const mapping = mappingOf(named, caller, threads);
    using memory = bodies.open(request);
    const body = steadyChunks((request.body as Readable | undefined) ?? request.raw, memory, bodies.deadlineMs);
    const report = await takeInUpload(options, caller, mapping, signal, {
      input: { chunks: decompressed(body, uploadEncoding(request.headers['content-encoding']), { memory }) },
      memory,
      source,
      ...(form === undefined ? {} : { form }),
      maxBytes,
    });
    return await reply.code(202).send(report);
  });
}

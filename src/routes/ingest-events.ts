import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decompressed, type Encoding } from '../../ingest/upload/decompress.ts';
import { type IntakeReport, takeInEvents } from '../../ingest/upload/event-intake.ts';
import { IntakeError } from '../../ingest/upload/intake-error.ts';
import { BODY, elementPath } from '../../query/json-path.ts';
import type { EventStore } from '../../store/event-store.ts';
import { callerOf } from '../auth/access.ts';
import { zoneGuard } from '../auth/zone-guard.ts';
import { isJsonType, isLineType, JSON_TYPES, LINE_TYPES, negotiateAnswer, requireBodyType } from '../http/content-negotiation.ts';
import { hangUpSignal } from '../http/hang-up.ts';
import type { Metrics } from '../http/metrics.ts';
import { type FieldError, RequestProblem } from '../http/problem.ts';
import { oneOf, readQuery } from '../http/query-parameters.ts';
import { steadyChunks } from '../http/request-body.ts';
import { asStoreProblem } from '../http/store-problem.ts';

const BODY_TYPES = [...LINE_TYPES, ...JSON_TYPES].join(', ');

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
};

export interface IngestEventsRoutesOptions {
  readonly store: EventStore;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Events older than this, in milliseconds, are counted and not stored. */
  readonly retentionMs: number;
  /** How long a body may be, decompressed. */
  readonly maxBytes: number;
  /** How long the next bytes of a body may take to arrive; the whole of it may take any time. */
  readonly bodyDeadlineMs: number;
}

function encodingOf(header: string | undefined): Encoding {
  const encoding = ENCODINGS[(header ?? '').trim().toLowerCase()];
  if (encoding !== undefined) return encoding;
  throw new RequestProblem('body.unsupported_type', `Content-Encoding: ${header} is not supported; allowed: gzip, zstd, identity`, {
    headers: { 'accept-encoding': 'gzip, zstd, identity' },
  });
}

function sourceOf(query: unknown): 'http' | 'file' {
  return readQuery<{ source: 'http' | 'file' }>(query, { source: oneOf('http', 'file') }).source ?? 'http';
}

function asIntakeProblem(error: unknown): unknown {
  if (!(error instanceof IntakeError)) return asStoreProblem(error);
  const detail = `${error.message}; sending everything again stores nothing twice`;
  if (error.cause instanceof RequestProblem)
    return new RequestProblem(error.cause.errorKey, detail, { headers: error.cause.headers, cause: error, ...notKeptErrors(error) });
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

/** `POST /ingest/events`: events as NDJSON or as one JSON array, of any length; 202 once all that are accepted are durable. */
export async function ingestEventsRoutes(
  app: FastifyInstance,
  { store, metrics, now, retentionMs, maxBytes, bodyDeadlineMs }: IngestEventsRoutesOptions,
): Promise<void> {
  // The body is not read here: it flows, and waits where the store is behind.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

  const validateHeaders = async (request: FastifyRequest): Promise<void> => {
    if (request.headers['content-type'] !== undefined) {
      requireBodyType(request.headers['content-type'], (type) => isJsonType(type) || isLineType(type), BODY_TYPES);
    }
    encodingOf(request.headers['content-encoding']);
    sourceOf(request.query);
    negotiateAnswer(request.headers.accept, ['application/json']);
  };

  function count(source: 'http' | 'file', { accepted, expired, rejectedCount }: IntakeReport): void {
    metrics.receivedEvents.inc({ source, verdict: 'accepted' }, accepted);
    metrics.receivedEvents.inc({ source, verdict: 'expired' }, expired);
    metrics.receivedEvents.inc({ source, verdict: 'rejected' }, rejectedCount);
  }

  const config = { needsScope: 'ingest' } as const;
  app.post('/ingest/events', { config, onRequest: validateHeaders, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
    const source = sourceOf(request.query);
    const signal = hangUpSignal(reply.raw);
    const admit = zoneGuard(callerOf(request));
    const body = steadyChunks((request.body as Readable | undefined) ?? request.raw, bodyDeadlineMs);
    try {
      const report = await takeInEvents(decompressed(body, encodingOf(request.headers['content-encoding'])), {
        store,
        source,
        now,
        retentionMs,
        maxBytes: maxBytes,
        signal,
        ...(admit === undefined ? {} : { admit }),
      });
      count(source, report);
      return await reply.code(202).send(report);
    } catch (error) {
      // A client that goes away ends its body too early, which looks like a broken one.
      signal.throwIfAborted();
      if (error instanceof IntakeError) count(source, error.report);
      throw asIntakeProblem(error);
    }
  });
}

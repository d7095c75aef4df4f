import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import type { SearchPlan } from '../../query/search-plan.ts';
import type { EventRow } from '../../query/search-result.ts';
import type { EventStore } from '../../store/event-store.ts';
import { requireZone } from '../auth/access.ts';
import { compileExport } from '../export/compile-export.ts';
import { exportDisposition } from '../export/export-file-name.ts';
import { EXPORT_TYPES, exportFormat } from '../export/export-format.ts';
import { createExportMetrics, type ExportOutcome } from '../export/export-metrics.ts';
import { ExportSlots } from '../export/export-slots.ts';
import { beginExport } from '../export/running-export.ts';
import { encodeStream, negotiateEncoding } from '../http/content-encoding.ts';
import { isJsonType, JSON_TYPES, negotiateAnswer, requireBodyType, requirePlainBody } from '../http/content-negotiation.ts';
import { DeadlinePassed } from '../http/deadline.ts';
import type { Metrics } from '../http/metrics.ts';
import { RequestProblem } from '../http/problem.ts';
import { invalidRequest } from '../http/query-parameters.ts';
import { SEARCH_BODY_BYTES, wholeBodyWithin } from '../http/request-body.ts';
import { asStoreProblem } from '../http/store-problem.ts';
import { parseZoneId } from '../http/zone-of-path.ts';

interface ZonePath {
  readonly Params: { readonly shieldZoneId: string };
}

export interface ExportRoutesOptions {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly metrics: Pick<Metrics, 'registry'>;
  readonly now: () => number;
  /** How long the whole body may take to arrive. */
  readonly bodyDeadlineMs: number;
  /** How long an export may take in all, and how long its client may take no byte of it. */
  readonly exportDeadlineMs: number;
  readonly exportIdleMs: number;
}

function compile(body: unknown, zoneId: number, nowMs: number): SearchPlan {
  try {
    return compileExport(body instanceof Uint8Array ? body : new Uint8Array(), { zoneId, nowMs });
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    throw invalidRequest(error.errors, error);
  }
}

function asExportProblem(error: unknown): unknown {
  if (!(error instanceof DeadlinePassed)) return asStoreProblem(error);
  const detail = `The export was interrupted before its first byte: ${error.message}; ask for a smaller window or add filters`;
  return new RequestProblem('search.deadline', detail, { headers: { 'retry-after': '5' }, cause: error });
}

/**
 * The rows; what goes wrong with them, first or later, is thrown as the problem that it is to the caller, who may not have got a byte yet.
 */
async function* matchingRows(
  store: ExportRoutesOptions['store'],
  plan: SearchPlan,
  signal: AbortSignal,
): AsyncGenerator<readonly EventRow[]> {
  try {
    yield* store.readAll(plan, { signal });
  } catch (error) {
    throw asExportProblem(error);
  }
}

function logEnd({ log }: FastifyRequest, outcome: ExportOutcome, reason: unknown): void {
  if (outcome === 'failed') log.error({ err: reason }, 'an export could not be read to its end');
  if (outcome === 'idle' || outcome === 'deadline') log.warn({ err: reason }, 'an export was cut off');
}

/** `POST /shield/event-logs/{shieldZoneId}/export`: everything that a search would find, on one page, as CSV or NDJSON. */
export async function exportRoutes(app: FastifyInstance, options: ExportRoutesOptions): Promise<void> {
  const { store, metrics, now, bodyDeadlineMs, exportDeadlineMs: deadlineMs, exportIdleMs: idleMs } = options;
  const slots = new ExportSlots();
  const counts = createExportMetrics(metrics.registry, () => slots.taken);

  // As for the search: no integer is to lose digits, and `validateHeaders` looks at the type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(bodyDeadlineMs));

  /** What can be refused without reading the body is. */
  const validateHeaders = async (request: FastifyRequest<ZonePath>): Promise<void> => {
    requireZone(request, parseZoneId(request.params.shieldZoneId));
    requireBodyType(request.headers['content-type'], isJsonType, JSON_TYPES.join(', '));
    requirePlainBody(request.headers['content-encoding']);
    negotiateAnswer(request.headers.accept, EXPORT_TYPES);
    negotiateEncoding(request.headers['accept-encoding']);
  };

  app.post<ZonePath>(
    '/shield/event-logs/:shieldZoneId/export',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const plan = compile(request.body, parseZoneId(request.params.shieldZoneId), now());
      const format = exportFormat(negotiateAnswer(request.headers.accept, EXPORT_TYPES));
      const encoding = negotiateEncoding(request.headers['accept-encoding']);
      const giveBack = slots.take();
      const onEnd = (outcome: ExportOutcome, reason: unknown): void => {
        giveBack();
        counts.exports.inc({ format: format.name, outcome });
        if (reply.raw.headersSent) logEnd(request, outcome, reason);
      };
      const onRows = (count: number): void => counts.events.inc({ format: format.name }, count);
      const read = (signal: AbortSignal) => matchingRows(store, plan, signal);
      const text = await beginExport({ format, read, response: reply.raw, deadlineMs, idleMs, onRows, onEnd });
      const headers = {
        'content-disposition': exportDisposition(plan, format.name),
        'cache-control': 'no-store',
        vary: 'accept, accept-encoding',
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      };
      // Where nothing was sent yet the answer becomes that of an error, which is neither packed nor a file.
      text.once('error', () => {
        if (reply.raw.headersSent) return;
        for (const name of Object.keys(headers)) reply.removeHeader(name).raw.removeHeader(name);
      });
      return reply.type(format.contentType).headers(headers).send(encodeStream(text, encoding));
    },
  );
}

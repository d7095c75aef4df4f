import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { RowPiece } from '../../query/plan/search-result.ts';
import { compileExport } from '../../query/request/compile-search.ts';
import type { EventStore } from '../../store/event-store.ts';
import { Semaphore } from '../../work/semaphore.ts';
import { callerOf, flowOf } from '../auth/access.ts';
import { namesSeveralZones, requestedZones, type ZonePath } from '../auth/requested-zones.ts';
import { csvColumns, EXPORT_TYPES, type ExportFormat, exportDisposition, exportFormat } from '../export/export-format.ts';
import { exportPieces } from '../export/export-pieces.ts';
import { createExportMetrics, EXPORTS_AT_ONCE, takeExportSlot } from '../export/export-slots.ts';
import { type AnswerOutcome, beginAnswer, markIncomplete } from '../http/begin-answer.ts';
import { encodeBody, negotiateAnswer, negotiateEncoding, requireJsonBody } from '../http/content-negotiation.ts';
import { asReadProblem, compiled, invalidRequest } from '../http/problem.ts';
import { SEARCH_BODY_BYTES, takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { oneOf, type Reader, readQuery, shownParameter } from '../http/request-parameters.ts';
import type { RouteServices } from './route-services.ts';

interface ExportPath extends ZonePath {
  readonly Querystring: { readonly bom?: unknown; readonly columns?: unknown };
}

/** The matching rows. An error is thrown as the caller's problem, because no byte may have been sent yet. */
async function* matchingRows(reads: Pick<EventStore, 'readAll'>, plan: SearchPlan, signal: AbortSignal): AsyncGenerator<RowPiece> {
  try {
    yield* reads.readAll(plan, { signal });
  } catch (error) {
    throw asReadProblem(error, 'The export was interrupted before its first byte', 'ask for a smaller window or add filters');
  }
}

/** Reads names of the header, each once, with commas between. */
function columnsOf(header: readonly string[]): Reader<readonly string[]> {
  return (value, name, errors) => {
    if (value === undefined) return undefined;
    const columns = typeof value === 'string' ? value.split(',') : [];
    if (columns.length > 0 && new Set(columns).size === columns.length && columns.every((one) => header.includes(one))) return columns;
    errors.add(name, `must be some of ${header.join(', ')}, each once, with commas between, not ${shownParameter(value)}`);
    return undefined;
  };
}

/** The format that the headers and the query ask for. Throws RequestProblem. Parameters other than its own are passed over. */
function askedFormat({ headers, params, query }: FastifyRequest<ExportPath>): ExportFormat {
  const type = negotiateAnswer(headers.accept, EXPORT_TYPES);
  const hasZones = namesSeveralZones(params.shieldZoneId);
  const { bom = 'false', columns } = readQuery<{ bom: 'true' | 'false'; columns: readonly string[] }>(
    { bom: query.bom, columns: query.columns },
    { bom: oneOf('true', 'false'), columns: columnsOf(csvColumns(hasZones)) },
  );
  const hasBom = bom === 'true';
  if (type !== 'text/csv') {
    const faults = [
      ...(hasBom ? [{ field: 'bom', message: `must not be true for ${type}: only text/csv begins with a BOM` }] : []),
      ...(columns !== undefined ? [{ field: 'columns', message: `must not be there for ${type}: only text/csv has columns` }] : []),
    ];
    if (faults.length > 0) throw invalidRequest(faults);
  }
  return exportFormat(type, { hasZones, hasBom, columns });
}

/** `POST /shield/event-logs/{shieldZoneId}/export`: all rows of one zone, a list of zones or `all`, as CSV or NDJSON. */
export async function exportRoutes(app: FastifyInstance, options: RouteServices): Promise<void> {
  const { store, reads, turns, metrics, now, bodies, exportDeadlineMs: deadlineMs, exportIdleMs: idleMs } = options;
  const slots = new Semaphore(EXPORTS_AT_ONCE);
  const counts = createExportMetrics(metrics.registry, slots);

  takeWholeBodies(app, bodies);

  /** Refuses what the headers alone make wrong, before the body is read. */
  const validateHeaders = async (request: FastifyRequest<ExportPath>): Promise<void> => {
    requestedZones(request.params.shieldZoneId, callerOf(request));
    requireJsonBody(request.headers);
    askedFormat(request);
    negotiateEncoding(request.headers['accept-encoding']);
  };

  app.post<ExportPath>(
    '/shield/event-logs/:shieldZoneId/export',
    { bodyLimit: SEARCH_BODY_BYTES, onRequest: validateHeaders },
    async (request, reply) => {
      const { shieldZoneId } = request.params;
      const zones = requestedZones(shieldZoneId, callerOf(request));
      const plan = compiled(() => compileExport(wholeBody(request), { zones, nowMs: now() }));
      const format = askedFormat(request);
      const encoding = negotiateEncoding(request.headers['accept-encoding']);
      const slot = takeExportSlot(slots);
      const onEnd = (outcome: AnswerOutcome): void => {
        slot[Symbol.dispose]();
        counts.exports.inc({ format: format.name, outcome });
      };
      const onRows = (count: number): void => counts.events.inc({ format: format.name }, count);
      const read = (signal: AbortSignal) => exportPieces(format, matchingRows(reads.of(flowOf(request)), plan, signal), onRows);
      const answer = await beginAnswer({ turns, reply, what: 'an export', read, deadlineMs, idleMs, onEnd });
      markIncomplete(reply, store.unreadableEvents(plan.zones, plan.window));
      const headers = {
        'content-disposition': exportDisposition(plan, format.name),
        'cache-control': 'no-store',
        vary: 'accept, accept-encoding',
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      };
      // An error before the first byte becomes the answer. It is neither compressed nor a file.
      if (!Buffer.isBuffer(answer)) {
        answer.once('error', () => {
          if (reply.raw.headersSent) return;
          for (const name of Object.keys(headers)) reply.removeHeader(name).raw.removeHeader(name);
        });
      }
      return reply.type(format.contentType).headers(headers).send(encodeBody(answer, encoding));
    },
  );
}

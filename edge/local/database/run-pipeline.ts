import { EdgeError } from '../../edge-error.ts';
import type { DatabaseLimits } from './database-limits.ts';
import { ProcessGone } from './database-process-handle.ts';
import { type DatabaseStream, goneCode, type OpenStreams, revokedError } from './open-streams.ts';
import { type OwnRequest, parseRequest } from './parse-request.ts';
import { errorJson, StatementError } from './statement-error.ts';
import type { StreamPlan } from './stream-plan.ts';
import type { KeptToken } from './token-store.ts';

/** The body of `POST /v2/pipeline`, its items not looked at yet. */
export interface PipelineBody {
  readonly baton: string | null;
  readonly requests: readonly unknown[];
}

const errorResult = (error: { readonly message: string; readonly code: string }): string => `{"type":"error","error":${errorJson(error)}}`;
const okResult = (type: string): string => `{"type":"ok","response":{"type":"${type}"}}`;

function isOwn(request: OwnRequest | StreamPlan): request is OwnRequest {
  return request.kind === 'close' || request.kind === 'store-sql' || request.kind === 'close-sql';
}

/** Something is wrong with the body as a whole. */
export function parsePipelineBody(body: unknown, maxRequests: number): PipelineBody {
  const wrong = (field: string, message: string): EdgeError => new EdgeError(400, 'REQUEST_INVALID', `${field} ${message}`, { field });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrong('the body', 'is not an object; allowed: {baton?, requests}');
  const { baton = null, requests } = body as Record<string, unknown>;
  if (baton !== null && typeof baton !== 'string') throw wrong('baton', 'is not a string; allowed: a string, or null');
  if (!Array.isArray(requests)) throw wrong('requests', 'is not a list; allowed: a list of requests');
  if (requests.length > maxRequests) throw wrong('requests', `has ${requests.length} items; allowed: up to ${maxRequests}`);
  return { baton, requests };
}

/** One pipeline: every item is run, also after one that failed. */
export interface PipelineOptions {
  readonly streams: OpenStreams;
  readonly limits: DatabaseLimits;
  /** The caller went away: nobody would learn the baton, so what is running is stopped. */
  readonly hungUp: AbortSignal;
}

async function runOwn(streams: OpenStreams, stream: DatabaseStream, place: string, request: OwnRequest): Promise<string> {
  switch (request.kind) {
    case 'store-sql':
      stream.sqls.store(place, request.sqlId, request.sql);
      return okResult('store_sql');
    case 'close-sql':
      stream.sqls.close(place, request.sqlId);
      return okResult('close_sql');
    case 'close':
      await streams.close(stream);
      return okResult('close');
  }
}

async function runOne(streams: OpenStreams, stream: DatabaseStream, place: string, wire: unknown, bytes: number): Promise<string> {
  if (stream.ended() === 'revoked') throw revokedError();
  if (stream.ended() !== null) return errorResult({ code: 'STREAM_CLOSED', message: `${place} comes after the end of its stream` });
  try {
    const request = parseRequest(place, wire, stream.sqls);
    if (isOwn(request)) return await runOwn(streams, stream, place, request);
    const { json, forbidden } = await streams.run(stream, request, bytes);
    if (forbidden !== null) throw new EdgeError(403, forbidden.code, forbidden.message);
    return json;
  } catch (error) {
    if (error instanceof StatementError) return errorResult(error);
    if (error instanceof ProcessGone) {
      return errorResult({
        code: goneCode(error),
        message: `${error.message}; its stream is closed and what was not committed is rolled back`,
      });
    }
    throw error;
  }
}

/**
 * Runs a pipeline for the holder of `token`; the answer's body in JSON text. Throws EdgeError for what refuses all of it, and the stream is
 * closed then.
 */
export async function runPipeline(
  { baton, requests }: PipelineBody,
  token: KeptToken,
  { streams, limits, hungUp }: PipelineOptions,
): Promise<string> {
  const stream = baton === null ? streams.open(token) : streams.resume(baton, token);
  const results: string[] = [];
  let bytes = limits.answerBytes;
  const end = (): void => void streams.close(stream);
  hungUp.addEventListener('abort', end, { once: true });
  try {
    for (const [index, wire] of requests.entries()) {
      const result = await runOne(streams, stream, `requests[${index}]`, wire, bytes);
      bytes -= Buffer.byteLength(result) + 1;
      results.push(result);
    }
    const next = stream.ended() === null ? streams.suspend(stream) : null;
    return `{"baton":${JSON.stringify(next)},"base_url":null,"results":[${results.join(',')}]}`;
  } catch (error) {
    await streams.close(stream);
    throw error;
  } finally {
    hungUp.removeEventListener('abort', end);
  }
}

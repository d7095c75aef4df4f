import { EdgeError } from '../../edge-error.ts';
import type { DatabaseLimits } from './database-limits.ts';
import { ProcessGone } from './database-process-handle.ts';
import { type DatabaseStream, goneCode, type OpenStreams, revokedError } from './open-streams.ts';
import type { OwnRequest } from './parse-request.ts';
import type { ReadPipeline, ReadRequest } from './read-pipeline.ts';
import { errorJson, StatementError } from './statement-error.ts';
import type { KeptToken } from './token-store.ts';

const errorResult = (error: { readonly message: string; readonly code: string }): string => `{"type":"error","error":${errorJson(error)}}`;
const okResult = (type: string): string => `{"type":"ok","response":{"type":"${type}"}}`;

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
      stream.sqls.close(request.sqlId);
      return okResult('close_sql');
    case 'close':
      await streams.close(stream);
      return okResult('close');
  }
}

async function runOne(streams: OpenStreams, stream: DatabaseStream, place: string, request: ReadRequest, bytes: number): Promise<string> {
  if (stream.ended() === 'revoked') throw revokedError();
  if (stream.ended() !== null) return errorResult({ code: 'STREAM_CLOSED', message: `${place} comes after the end of its stream` });
  try {
    if (request.kind === 'wrong') return errorResult(request);
    if (request.kind !== 'plan') return await runOwn(streams, stream, place, request);
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
  { baton, requests }: ReadPipeline,
  token: KeptToken,
  { streams, limits, hungUp }: PipelineOptions,
): Promise<string> {
  const stream = baton === null ? streams.open(token) : streams.resume(baton, token);
  const results: string[] = [];
  let bytes = limits.answerBytes;
  const end = (): void => void streams.close(stream);
  hungUp.addEventListener('abort', end, { once: true });
  try {
    for (const [index, request] of requests.entries()) {
      const result = await runOne(streams, stream, `requests[${index}]`, request, bytes);
      bytes -= Buffer.byteLength(result) + 1;
      results.push(result);
    }
    // A stream that was ended while nothing ran in it still has its place and its process.
    if (stream.ended() !== null) await streams.close(stream);
    const next = stream.ended() === null ? streams.suspend(stream) : null;
    return `{"baton":${JSON.stringify(next)},"base_url":null,"results":[${results.join(',')}]}`;
  } catch (error) {
    await streams.close(stream);
    throw error;
  } finally {
    hungUp.removeEventListener('abort', end);
  }
}

import { EdgeError } from '../../edge-error.ts';
import type { KeptToken } from './access-tokens.ts';
import type { DatabaseLimits } from './database-limits.ts';
import { type DatabaseStream, goneCode, type OpenStreams, revokedError } from './open-streams.ts';
import { ProcessGone } from './process-pool.ts';
import type { OwnRequest, ReadCursor, ReadPipeline, ReadRequest } from './read-pipeline.ts';
import { errorJson, StatementError } from './stream-plan.ts';

/** The error of an item of a pipeline, and the last line of a cursor whose batch failed. */
const errorResult = (error: { readonly message: string; readonly code: string }): string => `{"type":"error","error":${errorJson(error)}}`;
const okResult = (type: string): string => `{"type":"ok","response":{"type":"${type}"}}`;

const ERROR_TOO_LARGE = errorResult({
  code: 'RESPONSE_TOO_LARGE',
  message: 'the error of the request would make the answer larger than is allowed',
});

/** What a request of a caller runs on. */
export interface StreamOptions {
  readonly streams: OpenStreams;
  readonly limits: DatabaseLimits;
  /** The caller went away. It would never get the baton, so its work is stopped. */
  readonly hungUp: AbortSignal;
}

async function runOwn(streams: OpenStreams, stream: DatabaseStream, path: string, request: OwnRequest): Promise<string> {
  switch (request.kind) {
    case 'store-sql':
      stream.sqls.store(path, request.sqlId, request.sql);
      return okResult('store_sql');
    case 'close-sql':
      stream.sqls.close(request.sqlId);
      return okResult('close_sql');
    case 'close':
      await streams.close(stream);
      return okResult('close');
  }
}

async function runOne(streams: OpenStreams, stream: DatabaseStream, path: string, request: ReadRequest, bytes: number): Promise<string> {
  if (stream.ended() === 'revoked') throw revokedError();
  if (stream.ended() !== null) return errorResult({ code: 'STREAM_CLOSED', message: `${path} comes after the end of its stream` });
  try {
    if (request.kind === 'wrong') return errorResult(request);
    if (request.kind !== 'plan') return await runOwn(streams, stream, path, request);
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
 * Does the work of one HTTP request on the stream of its baton, or on a new one. Returns the baton for the next request as JSON text.
 * Throws EdgeError where the whole request is refused; the stream is closed then.
 */
async function onStream<T>(
  baton: string | null,
  token: KeptToken,
  { streams, hungUp }: StreamOptions,
  work: (stream: DatabaseStream) => Promise<T>,
): Promise<{ readonly baton: string; readonly value: T }> {
  const stream = baton === null ? streams.open(token) : streams.resume(baton, token);
  const end = (): void => void streams.close(stream);
  hungUp.addEventListener('abort', end, { once: true });
  // The caller may have left while its body was read and checked.
  if (hungUp.aborted) end();
  try {
    const value = await work(stream);
    // A stream that ended while it was idle still has its slot and its process.
    if (stream.ended() !== null) await streams.close(stream);
    return { baton: JSON.stringify(stream.ended() === null ? streams.suspend(stream) : null), value };
  } catch (error) {
    await streams.close(stream);
    throw error;
  } finally {
    hungUp.removeEventListener('abort', end);
  }
}

/**
 * Runs a pipeline for the holder of `token` and returns the body of the answer as JSON text. Every item is run, also after a failed one.
 * Throws EdgeError where the whole pipeline is refused.
 */
export async function runPipeline({ baton, requests }: ReadPipeline, token: KeptToken, options: StreamOptions): Promise<string> {
  const next = await onStream(baton, token, options, async (stream) => {
    const results: string[] = [];
    let bytes = options.limits.answerBytes;
    for (const [index, request] of requests.entries()) {
      const told = await runOne(options.streams, stream, `requests[${index}]`, request, bytes);
      // A result has room, or else its statement was not run.
      const result = told.startsWith('{"type":"error"') && Buffer.byteLength(told) > bytes ? ERROR_TOO_LARGE : told;
      bytes -= Buffer.byteLength(result) + 1;
      results.push(result);
    }
    return results.join(',');
  });
  return `{"baton":${next.baton},"base_url":null,"results":[${next.value}]}`;
}

/**
 * Runs the batch of a cursor to its end and returns the body of the answer: a line of JSON with the baton, and one for each entry. Throws
 * EdgeError as `runPipeline` does.
 */
export async function runCursor({ baton, request }: ReadCursor, token: KeptToken, options: StreamOptions): Promise<string> {
  const next = await onStream(baton, token, options, (stream) =>
    runOne(options.streams, stream, 'batch', request, options.limits.answerBytes),
  );
  return `{"baton":${next.baton},"base_url":null}\n${next.value === '' ? '' : `${next.value}\n`}`;
}

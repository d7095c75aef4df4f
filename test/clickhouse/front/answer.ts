import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { errorTrailer, type ServerError, statusOf } from './server-error.ts';

/** What the head of an answer says. */
export interface AnswerHead {
  readonly queryId: string;
  readonly format: string;
  readonly timezone: string;
  readonly tag: string;
  readonly encoding: 'gzip' | 'zstd' | undefined;
  readonly summary: AnswerSummary;
}

export interface AnswerSummary {
  readonly readRows: number;
  readonly writtenRows: number;
  readonly elapsedMs: number;
}

/** Where an answer stops before its end, behind this many bytes: with an error, or cut off. */
export interface AnswerBreak {
  readonly afterBytes: number;
  readonly error: ServerError | undefined;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  JSON: 'application/json; charset=UTF-8',
  JSONCompact: 'application/json; charset=UTF-8',
  JSONEachRow: 'application/x-ndjson; charset=UTF-8',
  JSONCompactEachRow: 'application/x-ndjson; charset=UTF-8',
  TabSeparated: 'text/tab-separated-values; charset=UTF-8',
  CSV: 'text/csv; charset=UTF-8; header=absent',
  Parquet: 'application/octet-stream',
};

/** Sends an error as the whole answer. */
export function sendError(response: ServerResponse, queryId: string, error: ServerError, timezone: string): void {
  response.writeHead(statusOf(error.code), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Query-Id': queryId,
    'X-ClickHouse-Timezone': timezone,
    'X-ClickHouse-Exception-Code': String(error.code),
    'X-ClickHouse-Summary': summaryText({ readRows: 0, writtenRows: 0, elapsedMs: 0 }),
  });
  response.end(`${error.message}\n`);
}

/**
 * Sends the blocks of an answer, as fast as the client takes them, and stops with the client. Where they fail, and at a break, the answer
 * ends as it does on a server: with the error, and without the end that HTTP wants.
 */
export async function sendAnswer(
  response: ServerResponse,
  head: AnswerHead,
  chunks: AsyncIterable<Uint8Array>,
  asError: (error: unknown) => ServerError,
  stop?: AnswerBreak,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': CONTENT_TYPES[head.format] ?? 'application/octet-stream',
    'X-ClickHouse-Query-Id': head.queryId,
    'X-ClickHouse-Format': head.format,
    'X-ClickHouse-Timezone': head.timezone,
    'X-ClickHouse-Exception-Tag': head.tag,
    'X-ClickHouse-Summary': summaryText(head.summary),
    'X-ClickHouse-Server-Display-Name': 'front',
    ...(head.encoding === undefined ? {} : { 'Content-Encoding': head.encoding }),
  });
  const compressor = head.encoding === 'gzip' ? createGzip() : head.encoding === 'zstd' ? createZstdCompress() : undefined;
  compressor?.pipe(response, { end: false });
  try {
    if (!(await writeAll(response, compressor, chunks, stop))) return;
  } catch (error) {
    await write(response, compressor, errorTrailer(asError(error), head.tag));
    await breakOff(response, compressor);
    return;
  }
  if (stop !== undefined) {
    if (stop.error !== undefined) await write(response, compressor, errorTrailer(stop.error, head.tag));
    await breakOff(response, compressor);
    return;
  }
  await endOf(response, compressor);
  response.end();
}

/** Writes the blocks, up to the break if there is one. Tells whether the client is still there. */
async function writeAll(
  response: ServerResponse,
  compressor: Gzip | ZstdCompress | undefined,
  chunks: AsyncIterable<Uint8Array>,
  stop: AnswerBreak | undefined,
): Promise<boolean> {
  let left = stop?.afterBytes ?? Number.POSITIVE_INFINITY;
  if (left === 0) return !response.destroyed;
  for await (const chunk of chunks) {
    if (response.destroyed) return false;
    await write(response, compressor, chunk.subarray(0, Math.min(chunk.length, left)));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return !response.destroyed;
}

async function write(response: ServerResponse, compressor: Gzip | ZstdCompress | undefined, bytes: Uint8Array): Promise<void> {
  const out = compressor ?? response;
  if (response.destroyed || out.write(bytes)) return;
  await orClosed(response, once(out, 'drain'));
}

/** Ends the connection behind what was written, as a server does: without the end of the compressed bytes and the last chunk. */
async function breakOff(response: ServerResponse, compressor: Gzip | ZstdCompress | undefined): Promise<void> {
  if (compressor !== undefined) {
    const flushed = new Promise<void>((resolve) => compressor.flush(resolve));
    await orClosed(response, flushed);
  }
  response.socket?.end();
}

/** Resolves once the compressor has given all to the answer. */
async function endOf(response: ServerResponse, compressor: Gzip | ZstdCompress | undefined): Promise<void> {
  if (compressor === undefined) return;
  compressor.end();
  await orClosed(response, finished(compressor, { writable: false }));
}

/** Waits no longer than the client is there. */
async function orClosed(response: ServerResponse, done: Promise<unknown>): Promise<void> {
  if (!response.destroyed) await Promise.race([done, once(response, 'close')]);
}

function summaryText({ readRows, writtenRows, elapsedMs }: AnswerSummary): string {
  return JSON.stringify({
    read_rows: String(readRows),
    read_bytes: '0',
    written_rows: String(writtenRows),
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: String(writtenRows),
    result_bytes: '0',
    elapsed_ns: String(Math.round(elapsedMs * 1e6)),
  });
}

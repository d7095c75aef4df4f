import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import Negotiator from 'negotiator';
import { bodyTypeOf } from '../../edge/input-validation.ts';
import type { Encoding } from '../../ingest/upload/decompress.ts';
import { RequestProblem } from './problem.ts';

/** The answer types of a search. The first is used for `*` and where `Accept` is missing. */
export const SEARCH_ANSWER_TYPES = ['application/json', 'text/json', 'text/plain'] as const;

/**
 * Returns the type of `offered` that an `Accept` header prefers; undefined or blank means any. Throws RequestProblem `accept.none` when
 * none is acceptable.
 */
export function negotiateAnswer<T extends string>(acceptHeader: string | undefined, offered: readonly T[]): T {
  // Our answers are UTF-8 and say so. The negotiator would take `application/json;charset=utf-8` for a type that is not offered.
  const accept = acceptHeader?.replaceAll(/;\s*charset="?utf-?8"?(?=\s*(?:[;,]|$))/gi, '').trim();
  const negotiator = new Negotiator({ headers: { accept: accept === '' ? undefined : accept } });
  const best = negotiator.mediaType(offered);
  const found = offered.find((type) => type === best);
  if (found !== undefined) return found;
  throw new RequestProblem('accept.none', `Accept: ${acceptHeader} takes none of ${offered.join(', ')}`);
}

/** The types of lines that the intake takes. `application/x-ndjson` is the name to use; tools send the others. */
export const LINE_TYPES = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/octet-stream',
  'text/plain',
] as const;

export function isLineType(type: string): boolean {
  return LINE_TYPES.some((candidate) => candidate === type);
}

/** The types that `isJsonType` takes, for messages and for the interface's description. */
export const JSON_TYPES = ['application/json', 'text/json', 'application/*+json'] as const;

export function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || /^application\/[^/+]+(\+[^/+]+)*\+json$/.test(type);
}

/**
 * Returns the media type of a request body in lower case, without parameters. Throws RequestProblem `body.unsupported_type` unless
 * `isAllowed` takes it and its charset, if named, is UTF-8.
 */
export function requireContentType(header: string | undefined, isAllowed: (type: string) => boolean, allowed: string): string {
  return bodyTypeOf(header ?? '', isAllowed, allowed, (reason) => new RequestProblem('body.unsupported_type', reason));
}

/** Throws RequestProblem `body.unsupported_type` for a body with a content encoding. */
export function requirePlainBody(header: string | undefined): void {
  if (header === undefined || header.trim() === '' || header.trim().toLowerCase() === 'identity') return;
  throw new RequestProblem('body.unsupported_type', `Content-Encoding: ${header} is not supported here; allowed: identity`, {
    headers: { 'accept-encoding': 'identity' },
  });
}

/** Throws RequestProblem `body.unsupported_type` unless the headers are those of JSON in UTF-8, without a content encoding. */
export function requireJsonBody(headers: IncomingHttpHeaders): void {
  requireContentType(headers['content-type'], isJsonType, JSON_TYPES.join(', '));
  requirePlainBody(headers['content-encoding']);
}

const UPLOAD_ENCODINGS: Readonly<Record<string, Encoding | 'detected'>> = {
  // Senders of files forget the header.
  '': 'detected',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  zstd: 'zstd',
};

/** How a body with events is compressed, by its `Content-Encoding`. Throws RequestProblem `body.unsupported_type` for another encoding. */
export function uploadEncoding(header: string | undefined): Encoding | 'detected' {
  const encoding = UPLOAD_ENCODINGS[(header ?? '').trim().toLowerCase()];
  if (encoding !== undefined) return encoding;
  throw new RequestProblem('body.unsupported_type', `Content-Encoding: ${header} is not supported; allowed: gzip, zstd, identity`, {
    headers: { 'accept-encoding': 'gzip, zstd, identity' },
  });
}

const ENCODINGS = ['zstd', 'gzip', 'identity'] as const;
type ContentEncoding = (typeof ENCODINGS)[number];

/**
 * Returns the encoding that an `Accept-Encoding` header prefers; `identity` without one. Throws RequestProblem `accept.none` when it takes
 * none.
 */
export function negotiateEncoding(header: string | undefined): ContentEncoding {
  const best = new Negotiator({ headers: { 'accept-encoding': header } }).encoding([...ENCODINGS]);
  const found = ENCODINGS.find((encoding) => encoding === best);
  if (found !== undefined) return found;
  throw new RequestProblem('accept.none', `Accept-Encoding: ${header} takes none of ${ENCODINGS.join(', ')}`);
}

/** The fastest levels: the feed and the export are written as fast as their readers take them. */
const COMPRESSORS: Readonly<Record<Exclude<ContentEncoding, 'identity'>, () => Transform>> = {
  gzip: () => createGzip({ level: 1 }),
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
};

/** Encodes a body. An error of either side ends both. */
export function encodeBody(body: Buffer | Readable, encoding: ContentEncoding): Buffer | Readable {
  if (encoding === 'identity') return body;
  const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body;
  // The reader of the result gets the error, too.
  return pipeline(source, COMPRESSORS[encoding](), () => undefined);
}

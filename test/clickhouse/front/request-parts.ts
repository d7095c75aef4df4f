import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createZstdDecompress } from 'node:zlib';

/** What a request asks for, apart from the data of an INSERT. */
export interface RequestParts {
  readonly database: string;
  readonly queryId: string | undefined;
  /** The texts of query parameters as they came: escaped as in TSV. */
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  /** The statement as far as it stands in the URL or in a part of a form. */
  readonly statement: string;
  readonly defaultFormat: string;
  /** Whether the answer begins once the statement has ended, so that an error is never in the middle of it. */
  readonly waitsForEnd: boolean;
}

/** Parameters of a URL that are no settings. */
const OWN_NAMES = new Set([
  'query',
  'database',
  'query_id',
  'user',
  'password',
  'quota_key',
  'default_format',
  'wait_end_of_query',
  'buffer_size',
  'compress',
  'decompress',
  'role',
  'stacktrace',
]);

/** The server's http_max_field_value_size, which bounds the text of each parameter, in bytes. */
const MAX_FIELD_BYTES = 131_072;

/** The server's http_max_fields. */
const MAX_FIELDS = 1000;

/** The fields of the URL, and those of a form where the body is one. Throws a text that says what a server would not take. */
export async function readParts(request: IncomingMessage, url: URL): Promise<RequestParts> {
  const fields = [...url.searchParams];
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (boundary !== undefined) fields.push(...formFields(await buffer(decoded(request)), boundary));
  if (fields.length > MAX_FIELDS) throw new Error('HTML Form Exception: Too many form fields');
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  const own = new Map<string, string>();
  for (const [name, value] of fields) {
    if (Buffer.byteLength(value) > MAX_FIELD_BYTES) throw new Error('HTML Form Exception: Field value too long');
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else if (OWN_NAMES.has(name)) own.set(name, value);
    else settings.set(name, value);
  }
  return {
    waitsForEnd: own.get('wait_end_of_query') === '1',
    database: own.get('database') ?? String(request.headers['x-clickhouse-database'] ?? 'default'),
    queryId: own.get('query_id'),
    params,
    settings,
    statement: own.get('query') ?? '',
    defaultFormat: own.get('default_format') ?? String(request.headers['x-clickhouse-format'] ?? 'TabSeparated'),
  };
}

export function isForm(request: IncomingMessage): boolean {
  return /^multipart\/form-data/i.test(request.headers['content-type'] ?? '');
}

/** The body without its Content-Encoding. Throws where that is another than those of the client. */
export function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? '';
  const decoder = encoding === 'gzip' ? createGunzip() : encoding === 'zstd' ? createZstdDecompress() : undefined;
  if (decoder !== undefined) {
    request.on('error', (error) => decoder.destroy(error));
    request.on('aborted', () => decoder.destroy(new Error('The client hung up before the end of the body')));
    return request.pipe(decoder);
  }
  if (encoding !== '' && encoding !== 'identity') throw new Error(`Unknown compression method: ${encoding}`);
  return request;
}

/** The Content-Encoding that the answer may have: the first of Accept-Encoding that the front writes. */
export function answerEncoding(request: IncomingMessage, settings: ReadonlyMap<string, string>): 'gzip' | 'zstd' | undefined {
  if (!['1', 'true'].includes(settings.get('enable_http_compression') ?? '')) return undefined;
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((name) => name.split(';')[0]?.trim());
  return accepted.includes('gzip') ? 'gzip' : accepted.includes('zstd') ? 'zstd' : undefined;
}

/** The fields of a form by their bytes: their values may have line breaks of every kind. */
function formFields(body: Buffer, boundary: string): [string, string][] {
  const fields: [string, string][] = [];
  const line = Buffer.from(`--${boundary}`);
  let at = body.indexOf(line);
  while (at >= 0) {
    const start = at + line.length + 2;
    const head = body.indexOf('\r\n\r\n', start);
    const next = body.indexOf(Buffer.concat([Buffer.from('\r\n'), line]), start);
    if (head < 0 || next < 0) break;
    const name = /name="([^"]*)"/i.exec(body.toString('utf8', start, head))?.[1];
    if (name !== undefined) fields.push([name, body.toString('utf8', head + 4, next)]);
    at = next + 2;
  }
  return fields;
}

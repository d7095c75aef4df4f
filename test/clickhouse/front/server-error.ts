import type { IncomingMessage } from 'node:http';

/** What a server refuses a statement with. Its message is without the number, the name and the version. */
export interface ServerErrorFacts {
  readonly code: number;
  readonly name: string;
  readonly message: string;
}

/** An error as a server words it. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function serverError({ code, name, message }: ServerErrorFacts, version: string): ServerError {
  return new ServerError(code, `Code: ${code}. DB::Exception: ${message}. (${name}) (version ${version} (official build))`);
}

/** How a server words what its HTTP library refuses. */
export function formError(message: string, version: string): ServerError {
  return new ServerError(1000, `Poco::Exception. Code: 1000, e.code() = 0, ${message} (version ${version} (official build))`);
}

/** The codes of each status, as in src/Server/HTTP/exceptionCodeToHTTPStatus.cpp of the server. All others are 500. */
const STATUSES: Readonly<Record<number, readonly number[]>> = {
  400: [36, 427, 6, 25, 26, 38, 41, 72, 441, 675, 676, 27, 376, 15, 44, 37, 123, 8, 167, 168, 223, 62, 117, 53, 321],
  401: [194],
  403: [192, 193, 516, 512, 497],
  404: [60, 46, 47, 50, 56, 81, 115, 152, 63, 73, 336, 78, 511],
  408: [159],
  411: [381],
  413: [229],
  415: [779],
  501: [48],
  503: [209, 76, 439],
};

/** The HTTP status of an error's code. */
export function statusOf(code: number): number {
  const found = Object.entries(STATUSES).find(([, codes]) => codes.includes(code));
  return found === undefined ? 500 : Number(found[0]);
}

/** The engine's error as a server words it: with the version at its end. */
export function asServerError(error: unknown, version: string): ServerError {
  if (error instanceof ServerError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const found = /^Code: (\d+)\. DB::Exception: ([\s\S]*)\. \(([A-Z0-9_]+)\)\s*$/.exec(message);
  if (found === null) return serverError({ code: 1002, name: 'UNKNOWN_EXCEPTION', message }, version);
  const [, code, text = '', name = ''] = found;
  return serverError({ code: Number(code), name, message: text }, version);
}

/**
 * What newer servers end an answer with that fails after its first bytes. `tag` is that of the header X-ClickHouse-Exception-Tag; the
 * number counts the bytes of the message with its line break.
 */
export function errorTrailer(error: ServerError, tag: string): Buffer {
  const message = Buffer.from(`${error.message}\n`);
  return Buffer.concat([
    Buffer.from(`\r\n__exception__\r\n${tag}\r\n`),
    message,
    Buffer.from(`${message.length} ${tag}\r\n__exception__\r\n`),
  ]);
}

/** Whether the request has this name and password, in any of the three places where clients may put them. */
export function isSignedIn(request: IncomingMessage, url: URL, user: string, password: string): boolean {
  const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const [givenUser = '', ...rest] = basic === undefined ? [] : Buffer.from(basic, 'base64').toString().split(':');
  const headers = request.headers;
  const name = headers['x-clickhouse-user'] ?? url.searchParams.get('user') ?? (givenUser === '' ? 'default' : givenUser);
  const key = headers['x-clickhouse-key'] ?? url.searchParams.get('password') ?? rest.join(':');
  return name === user && key === password;
}

import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** One answer as it came over the wire, its body decoded. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** To HEAD: it has no body, whatever its headers say. */
  readonly isToHead: boolean;
  /** False where the connection ended before it did. */
  readonly isWhole: boolean;
}

interface Body {
  readonly bytes: Buffer;
  /** Where what follows it begins; null: the body is not there whole. */
  readonly end: number | null;
}

const EVENT_END = '\n\n';

/** A body in chunks. Throws where its framing is broken. */
function chunkedBody(bytes: Buffer, start: number): Body {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const line = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`an answer has a chunk of the length ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    const chunkEnd = lineEnd + 2 + size;
    chunks.push(bytes.subarray(lineEnd + 2, Math.min(chunkEnd, bytes.length)));
    if (bytes.length < chunkEnd + 2) break;
    at = chunkEnd + 2;
    if (size === 0) return { bytes: Buffer.concat(chunks), end: at };
  }
  return { bytes: Buffer.concat(chunks), end: null };
}

export function isEventStream(answer: Pick<WireAnswer, 'headers'> | undefined): boolean {
  return answer?.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

function bodyOf(bytes: Buffer, start: number, headers: Headers, hasBody: boolean, hasEnded: boolean): Body {
  if (!hasBody) return { bytes: Buffer.alloc(0), end: start };
  if (headers.get('transfer-encoding') !== 'chunked') {
    // To clients of HTTP/1.0 the end of the connection is the end of the body.
    const end = start + Number(headers.get('content-length') ?? (hasEnded ? bytes.length - start : Number.POSITIVE_INFINITY));
    return { bytes: bytes.subarray(start, Math.min(end, bytes.length)), end: end > bytes.length ? null : end };
  }
  const body = chunkedBody(bytes, start);
  // A stream of events does not end by itself: its first event is answer enough.
  return isEventStream({ headers }) && body.bytes.includes(EVENT_END) ? { ...body, end: bytes.length } : body;
}

function decoded(bytes: Buffer, encoding: string | null): string {
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  if (encoding === 'zstd') return zstdDecompressSync(bytes).toString();
  return bytes.toString();
}

interface Connection {
  /** The bytes that the server sent. */
  readonly bytes: Buffer;
  /** Whether it has ended its half. */
  readonly hasEnded: boolean;
  /** Whether the first request was a HEAD, whose answer has no body. */
  readonly isHead: boolean;
}

interface Found {
  readonly answer: WireAnswer;
  /** Where what follows it begins; null: it is not there whole. */
  readonly end: number | null;
}

function answerAt({ bytes, hasEnded }: Connection, start: number, isHead: boolean): Found | null {
  const headEnd = bytes.indexOf('\r\n\r\n', start);
  if (headEnd < 0) return null;
  const [statusLine = '', ...fields] = bytes.toString('latin1', start, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`an answer begins with ${JSON.stringify(statusLine.slice(0, 200))}`);
  const headers = new Headers(
    fields.map((field): [string, string] => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
  );
  const hasBody = !isHead && status >= 200 && status !== 204 && status !== 304;
  const body = bodyOf(bytes, headEnd + 4, headers, hasBody, hasEnded);
  const isWhole = body.end !== null;
  const text = isWhole ? decoded(body.bytes, headers.get('content-encoding')) : '';
  return { answer: { status, headers, text, isToHead: isHead, isWhole }, end: body.end };
}

/**
 * The answers on one connection, without those that only say to go on (1xx); the last may be cut off. Throws where the bytes are no HTTP.
 */
export function answersIn(connection: Connection): readonly WireAnswer[] {
  const answers: WireAnswer[] = [];
  let start = 0;
  while (start < connection.bytes.length) {
    const found = answerAt(connection, start, connection.isHead && answers.length === 0);
    if (found === null) break;
    if (found.answer.status >= 200) answers.push(found.answer);
    if (found.end === null) break;
    start = found.end;
  }
  return answers;
}

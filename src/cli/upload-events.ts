import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { shownValue } from '../../query/shown-value.ts';
import { CommandFailed } from './command.ts';
import type { Encoding } from './detect-encoding.ts';

/** What `POST /ingest/events` answers. */
export interface IntakeAnswer {
  readonly accepted: number;
  /** How many of them were stored already; null where the program does not know. */
  readonly duplicates: number | null;
  readonly expired: number;
  /** At most some of them; `rejectedCount` counts all. */
  readonly rejected: readonly { readonly index: number; readonly line: number; readonly reason: string; readonly kept?: false }[];
  readonly rejectedCount: number;
}

export interface Upload {
  /** The program's base URL. */
  readonly url: URL;
  /** Printable ASCII. */
  readonly accessKey: string | null;
  readonly encoding: Encoding;
  readonly source: 'http' | 'file';
  readonly body: AsyncIterable<Uint8Array>;
}

// Kept alive, because a server that refuses early and then closes resets the connection, and its words are lost with it.
const open = {
  'http:': (url: URL, headers: Record<string, string>): ClientRequest =>
    httpRequest(url, { method: 'POST', headers, agent: new HttpAgent({ keepAlive: true }) }),
  'https:': (url: URL, headers: Record<string, string>): ClientRequest =>
    httpsRequest(url, { method: 'POST', headers, agent: new HttpsAgent({ keepAlive: true }) }),
};

function headersOf({ accessKey, encoding }: Upload): Record<string, string> {
  return {
    'content-type': 'application/x-ndjson',
    accept: 'application/json',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
}

function openRequest(upload: Upload): ClientRequest {
  const { url, source } = upload;
  const target = new URL(`${url.pathname.replace(/\/$/, '')}/ingest/events?source=${source}`, url);
  return open[url.protocol === 'https:' ? 'https:' : 'http:'](target, headersOf(upload));
}

const AGAIN = 'sending the same events again stores nothing twice';

/** No answer of the program is longer: it lists the first of the rejected events only. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** The answer's body. Throws CommandFailed beyond the limit. */
async function answerText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) {
      throw new CommandFailed(
        `what answered ${response.statusCode} is no shieldlog: its answer has more than ${MAX_ANSWER_BYTES} bytes; ${AGAIN}`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function isRejection(value: unknown): boolean {
  const { index, line, reason } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isCount(index) && isCount(line) && typeof reason === 'string';
}

/** The answer to an upload that was taken. Throws CommandFailed where it is something else. */
function intakeAnswerIn(body: string): IntakeAnswer {
  try {
    const answer = JSON.parse(body) as IntakeAnswer | null;
    const { accepted, duplicates, expired, rejected, rejectedCount } = answer ?? ({} as Partial<IntakeAnswer>);
    const areCounts = [accepted, duplicates ?? 0, expired, rejectedCount].every(isCount) && duplicates !== undefined;
    if (areCounts && Array.isArray(rejected) && rejected.every(isRejection)) {
      return answer as IntakeAnswer;
    }
  } catch {
    // Told below, as everything that is not the answer of this program.
  }
  throw new CommandFailed(`what answered 202 is no shieldlog: its answer is ${shownValue(body.slice(0, 200))}; ${AGAIN}`);
}

async function refusal(response: IncomingMessage): Promise<CommandFailed> {
  const body = await answerText(response);
  let detail = body.slice(0, 500).trim();
  try {
    detail = String((JSON.parse(body) as { readonly detail?: unknown }).detail ?? detail).slice(0, 500);
  } catch {
    // Not the words of this program: shown as they came.
  }
  return new CommandFailed(`the program answered ${response.statusCode}: ${detail === '' ? response.statusMessage : detail}`);
}

/**
 * Node hands on OpenSSL's own words: `write EPROTO 40A7…:error:0A00010B:SSL routines:some_function:wrong version number:some/file.c:77:`.
 */
function tlsFault(message: string): string | null {
  return /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? null;
}

function whyUnconnected({ origin, host }: URL, error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED') return `nothing is listening at ${origin}; start shieldlog there, or name another place with --url`;
  const fault = tlsFault(error.message);
  if (fault === 'wrong version number' || fault === 'packet length too long') {
    return `what listens at ${origin} does not speak TLS; for a program without it: --url http://${host}`;
  }
  if (fault !== null) return `TLS with ${origin} failed: ${fault}; ${AGAIN}`;
  if (error.code?.startsWith('HPE_') === true) {
    return `what listens at ${origin} does not speak HTTP (${error.message}); for a program behind TLS: --url https://${host}`;
  }
  return `the connection to ${origin} failed: ${error.message || error.code}; ${AGAIN}`;
}

/**
 * Sends the body in bounded memory and waits until the program has made the events durable. Throws CommandFailed: the program cannot be
 * reached, refuses, or the body cannot be read.
 */
export async function uploadEvents(upload: Upload): Promise<IntakeAnswer> {
  let unreadable: CommandFailed | null = null;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* upload.body;
    } catch (error) {
      unreadable = new CommandFailed(`the events cannot be read: ${(error as Error).message}`, { cause: error });
      throw unreadable;
    }
  }
  const request = openRequest(upload);
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  request.on('error', (error) => reject(unreadable ?? new CommandFailed(whyUnconnected(upload.url, error), { cause: error })));
  // What fails here fails the request, and with it the answer; a refusal that comes before the body's end cuts the sending short.
  pipeline(Readable.from(body()), request).catch(() => {});
  try {
    const response = await answer;
    if (response.statusCode !== 202) throw await refusal(response);
    return intakeAnswerIn(await answerText(response));
  } finally {
    request.destroy();
  }
}

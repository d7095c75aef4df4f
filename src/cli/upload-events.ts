import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { CommandFailed } from './command.ts';
import type { Encoding } from './detect-encoding.ts';

/** What `POST /ingest/events` answers. */
export interface IntakeAnswer {
  readonly accepted: number;
  readonly expired: number;
  /** At most some of them; `rejectedCount` counts all. */
  readonly rejected: readonly { readonly index: number; readonly reason: string }[];
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

async function refusal(response: IncomingMessage): Promise<CommandFailed> {
  const body = await text(response);
  let detail = body.slice(0, 500).trim();
  try {
    detail = String((JSON.parse(body) as { readonly detail?: unknown }).detail ?? detail);
  } catch {
    // Not the words of this program: shown as they came.
  }
  return new CommandFailed(`the program answered ${response.statusCode}: ${detail === '' ? response.statusMessage : detail}`);
}

const AGAIN = 'sending the same events again stores nothing twice';

/** Node hands on OpenSSL's own words: `write EPROTO 40A7…:error:0A00010B:SSL routines:some_function:wrong version number:some/file.c:77:`. */
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
    return (await json(response)) as IntakeAnswer;
  } finally {
    request.destroy();
  }
}

import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Encoding } from '../../../ingest/upload/decompress.ts';
import type { IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { shownValue } from '../../../query/request/request-errors.ts';
import { isWithoutTls, tlsFault } from '../../sinks/connections.ts';
import { isRetriable, retryAfterMs } from '../../sinks/http-exchange.ts';
import { CommandFailed } from '../command.ts';
import { addressIn } from '../server-flags.ts';

/**
 * Why an upload failed. `unreadable`: the events could not be read. `refused`: the program refuses these events. `unavailable`: it cannot
 * be reached, or not take them now. `denied`: it takes none of this caller, or is something else.
 */
type UploadFault = 'unreadable' | 'refused' | 'unavailable' | 'denied';

/** An upload failed; the message is one line that says why. Sending the events again is safe. */
export class UploadFailed extends CommandFailed {
  readonly fault: UploadFault;
  /** The pause that the program asks for, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(fault: UploadFault, message: string, options: ErrorOptions & { readonly retryAfterMs?: number | null } = {}) {
    super(message, options);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** What is said of records of another product: the name of a mapping that the program has, and the zone of all of them; null: none. */
export interface RecordsSent {
  readonly mapping: string;
  readonly zone: number | null;
}

export interface Upload {
  /** The program's base URL. */
  readonly url: URL;
  /** Printable ASCII. */
  readonly accessKey: string | null;
  readonly encoding: Encoding;
  readonly source: 'http' | 'file';
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** How records of another product become events; absent or null: the body has events. */
  readonly records?: RecordsSent | null;
  /** Every line is an event, also one with a bracket in front, which otherwise begins an array. */
  readonly areLines?: boolean;
  /** How long the program may be silent, and take nothing; absent: for any time. */
  readonly silenceMs?: number;
  /** Ends the upload, which then rejects with its reason. */
  readonly signal?: AbortSignal;
}

// Without keep-alive, a server that refuses early would close and reset the connection, and its answer would be lost.
const open = {
  'http:': (url: URL, headers: Record<string, string>): ClientRequest =>
    httpRequest(url, { method: 'POST', headers, agent: new HttpAgent({ keepAlive: true }) }),
  'https:': (url: URL, headers: Record<string, string>): ClientRequest =>
    httpsRequest(url, { method: 'POST', headers, agent: new HttpsAgent({ keepAlive: true }) }),
};

function headersOf({ accessKey, encoding, areLines }: Upload): Record<string, string> {
  return {
    'content-type': areLines === true ? 'application/x-ndjson' : 'application/json',
    accept: 'application/json',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
}

function openRequest(upload: Upload): ClientRequest {
  const { url, source, areLines, records = null } = upload;
  const query = new URLSearchParams({ source });
  if (areLines === true) query.set('form', 'lines');
  if (records !== null) query.set('mapping', records.mapping);
  if (records !== null && records.zone !== null) query.set('zone', String(records.zone));
  const target = addressIn(url, `/ingest/events?${query}`);
  return open[url.protocol === 'https:' ? 'https:' : 'http:'](target, headersOf(upload));
}

const AGAIN = 'sending the same events again stores nothing twice';

/** The program's answer is always shorter, because it lists only the first rejected events. */
export const MAX_UPLOAD_ANSWER_BYTES = 16 * 1024 * 1024;

/** Reads the answer's body. Throws CommandFailed beyond the limit. */
async function answerText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_UPLOAD_ANSWER_BYTES) {
      throw new UploadFailed(
        'denied',
        `what answered ${response.statusCode} is no shieldlog: its answer has more than ${MAX_UPLOAD_ANSWER_BYTES} bytes; ${AGAIN}`,
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

/** Parses the answer to an accepted upload. Throws CommandFailed for any other text. */
function intakeReportIn(body: string): IntakeReport {
  try {
    const answer = JSON.parse(body) as IntakeReport | null;
    // A program of an earlier version repairs nothing, and does not say so.
    const { accepted, duplicates, expired, repaired = 0, rejected, rejectedCount, leftOut = 0 } = answer ?? ({} as Partial<IntakeReport>);
    const areCounts = [accepted, duplicates ?? 0, expired, repaired, rejectedCount, leftOut].every(isCount) && duplicates !== undefined;
    if (areCounts && Array.isArray(rejected) && rejected.every(isRejection)) {
      return { ...(answer as IntakeReport), repaired };
    }
  } catch {
    // Thrown below, as for JSON of another shape.
  }
  throw new UploadFailed('denied', `what answered 202 is no shieldlog: its answer is ${shownValue(body.slice(0, 200))}; ${AGAIN}`);
}

/** What is wrong with the events themselves: they cannot be read to their end, or are of a type that is not taken. */
const REFUSED: ReadonlySet<number> = new Set([400, 413]);

function faultOfStatus(status: number): UploadFault {
  if (REFUSED.has(status)) return 'refused';
  return isRetriable(status) ? 'unavailable' : 'denied';
}

async function refusal(response: IncomingMessage): Promise<UploadFailed> {
  const body = await answerText(response);
  let detail = body.slice(0, 500).trim();
  try {
    detail = String((JSON.parse(body) as { readonly detail?: unknown }).detail ?? detail).slice(0, 500);
  } catch {
    // An answer of another program is shown as it is.
  }
  const message = `the program answered ${response.statusCode}: ${detail === '' ? response.statusMessage : detail}`;
  const wait = retryAfterMs(response.headers['retry-after'], Date.now());
  return new UploadFailed(faultOfStatus(response.statusCode ?? 0), message, { retryAfterMs: wait });
}

function whyUnconnected({ origin, host }: URL, error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED') return `nothing is listening at ${origin}; start shieldlog there, or name another program with --url`;
  const fault = tlsFault(error.message);
  if (isWithoutTls(fault)) {
    return `what listens at ${origin} does not speak TLS; for a program without it: --url http://${host}`;
  }
  if (fault !== null) return `TLS with ${origin} failed: ${fault}; ${AGAIN}`;
  if (error.code?.startsWith('HPE_') === true) {
    return `what listens at ${origin} does not speak HTTP (${error.message}); for a program behind TLS: --url https://${host}`;
  }
  return `the connection to ${origin} failed: ${error.message || error.code}; ${AGAIN}`;
}

/**
 * Sends the body in bounded memory, and resolves when the program has stored the events durably. Throws UploadFailed if the program cannot
 * be reached or refuses, or the body cannot be read.
 */
export async function uploadEvents(upload: Upload): Promise<IntakeReport> {
  let unreadable: UploadFailed | null = null;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* upload.body;
    } catch (error) {
      unreadable = new UploadFailed('unreadable', `the events cannot be read: ${(error as Error).message}`, { cause: error });
      throw unreadable;
    }
  }
  const { signal } = upload;
  signal?.throwIfAborted();
  const request = openRequest(upload);
  const abort = (): void => void request.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  const { silenceMs } = upload;
  if (silenceMs !== undefined) {
    request.setTimeout(silenceMs, () => request.destroy(new Error(`it was silent for ${silenceMs / 1_000} s`)));
  }
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  request.on('error', (error) =>
    reject(unreadable ?? new UploadFailed('unavailable', whyUnconnected(upload.url, error), { cause: error })),
  );
  // An error here is also an error of the request. An early refusal ends the pipeline, which is not an error.
  pipeline(Readable.from(body()), request).catch(() => {});
  try {
    const response = await answer;
    if (response.statusCode !== 202) throw await refusal(response);
    return intakeReportIn(await answerText(response));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CommandFailed) throw error;
    throw new UploadFailed('unavailable', whyUnconnected(upload.url, error as Error), { cause: error });
  } finally {
    signal?.removeEventListener('abort', abort);
    request.destroy();
  }
}

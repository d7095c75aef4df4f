import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import type { FieldError } from '../../query/request/request-errors.ts';
import { isLoopbackHost } from '../config/loopback.ts';
import { createHttpClient, type HttpClient, type HttpStream, membersIn, refusedAnswer } from '../sinks/http-exchange.ts';
import { DeliveryError } from '../sinks/sink.ts';
import type { CommandIo } from './command.ts';
import { zoneList } from './flag-values.ts';
import { accessKeyOf, addressIn, serverUrlOf, trustedBy, whereToAsk } from './server-flags.ts';

/** A running program, as a command asks it. */
export interface AskedProgram {
  readonly url: URL;
  /** The zones as paths have them: `all`, or zone ids with commas between. */
  readonly zone: string;
  readonly accessKey: string | null;
  readonly client: HttpClient;
}

/** The running program that the flags name, and its zones: without `--zone` all that the key opens. Throws UsageError. */
export function programOf(flags: Readonly<Record<string, string>>, env: CommandIo['env']): AskedProgram {
  const [url, accessKey, zone] = [serverUrlOf(flags['url']), accessKeyOf(flags, env), zoneList(flags['zone'] ?? 'all')];
  return { url, accessKey, zone, client: createHttpClient(trustedBy(flags['ca'] ?? null)) };
}

/** The path of an operation about the zones of a program. */
export function zonesPath({ zone }: Pick<AskedProgram, 'zone'>, operation: string): string {
  return `/shield/event-logs/${zone}/${operation}`;
}

export interface ProgramRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, where the headers name no other type. */
  readonly body?: string | Uint8Array;
  /** The content type of the answer. */
  readonly accept: string;
  /** Default: it ends with the process. */
  readonly signal?: AbortSignal;
  /** Default: ten minutes, because a search of everything, a check and a backup may need so long until their first byte. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 600_000;

/** An answer other than 200. */
export class ProgramRefusal extends DeliveryError {
  readonly status: number;
  /** What is wrong with the request, as far as the answer names it. */
  readonly errors: readonly FieldError[];
  /** The cursor to go on from, where a tail or feed does not go on at its own; null elsewhere. */
  readonly oldestCursor: string | null;
  /** Whether the cursor is ahead of the program, which does not have all that its reader has read. */
  readonly isAhead: boolean;

  constructor({ code, message, retryAfterMs }: DeliveryError, status: number, body: Buffer) {
    super(code, message, { retryAfterMs });
    this.status = status;
    const { errors, oldestCursor, isAhead } = problemIn(body);
    this.errors = errors;
    this.oldestCursor = oldestCursor;
    this.isAhead = isAhead;
  }
}

/** What a refusal says for programs. */
interface Problem {
  readonly errors: readonly FieldError[];
  readonly oldestCursor: string | null;
  readonly isAhead: boolean;
}

/** Reads the ProblemDetails of the program; nothing is in the answer of a proxy in between. */
export function problemIn(body: Buffer): Problem {
  const { errors, oldestCursor, errorKey } = membersIn(body);
  const named = Array.isArray(errors) ? errors : [];
  return {
    errors: named.filter((error) => typeof error?.field === 'string' && typeof error?.message === 'string'),
    oldestCursor: typeof oldestCursor === 'string' ? oldestCursor : null,
    isAhead: errorKey === 'feed.cursor_ahead',
  };
}

/** The address and the headers of a question. */
export function questionTo(
  { url, accessKey }: Pick<AskedProgram, 'url' | 'accessKey'>,
  { path, query = {}, accept }: Pick<ProgramRequest, 'path' | 'query' | 'accept'>,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const target = addressIn(url, path);
  target.search = new URLSearchParams(query).toString();
  const headers = {
    accept,
    // On loopback, compression costs more than it saves.
    'accept-encoding': isLoopbackHost(url.hostname) ? 'identity' : 'zstd, gzip',
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
  return { url: target, headers };
}

/** A refusal is short; the rest of a longer one is not read. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/** The error of an answer other than that asked for. `request` names it in the message. */
async function refusalOf(request: string, { status, headers, body }: HttpStream): Promise<ProgramRefusal> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_REFUSAL_BYTES) break;
  }
  const whole = Buffer.concat(chunks);
  return new ProgramRefusal(refusedAnswer(request, { status, headers, body: whole }, Date.now()), status, whole);
}

/**
 * Asks the program and resolves with the beginning of its answer. Throws ProgramRefusal for any answer but 200,
 * DeliveryError where there is none or it is of something else, or the signal's reason.
 */
export async function openAnswer(program: AskedProgram, request: ProgramRequest): Promise<HttpStream> {
  const { method, body, accept, signal = new AbortController().signal, silenceMs = SILENCE_MS } = request;
  const { url, headers } = questionTo(program, request);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = { headers: { ...headers, ...json, ...request.headers }, ...(body === undefined ? {} : { body: Buffer.from(body) }) };
  const answer = await program.client.open({ method, url, ...sent, signal, silenceMs }).catch((error) => {
    const advice = error instanceof DeliveryError ? whereToAsk(error, url) : null;
    throw advice === null ? error : new DeliveryError(error.code, `${error.message}; ${advice}`, { cause: error });
  });
  if (answer.status !== 200) throw await refusalOf(url.origin, answer);
  const type = answer.headers['content-type'] ?? 'nothing that has a type';
  if (!type.startsWith(accept)) throw new DeliveryError('refused', `${url.origin} is no shieldlog: it answered with ${type}`);
  return answer;
}

const NDJSON = 'application/x-ndjson';

/** The lines of an answer of NDJSON, after which the program is asked nothing more. Throws as `openAnswer`. */
export async function* askedLines<Line>(program: AskedProgram, request: Omit<ProgramRequest, 'accept'>): AsyncGenerator<Line, void> {
  try {
    const { body } = await openAnswer(program, { ...request, accept: NDJSON });
    const lines = createInterface({ input: Readable.from(body), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) yield JSON.parse(line) as Line;
  } finally {
    program.client.close();
  }
}

/** The longest answer that is held. */
export const MAX_HELD_ANSWER_BYTES = 128 * 1024 * 1024;

export interface WholeAnswer {
  readonly bytes: Buffer;
  /** The most events that it lacks, because the program cannot read them. */
  readonly unreadable: number;
}

/** The whole answer to a question of one page. Throws as `openAnswer`, and DeliveryError where it is too long. */
export async function fetchAnswer(program: AskedProgram, request: ProgramRequest): Promise<WholeAnswer> {
  const { headers, body } = await openAnswer(program, request);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_HELD_ANSWER_BYTES) {
      throw new DeliveryError('oversized', `the answer is longer than ${MAX_HELD_ANSWER_BYTES} bytes; ask for fewer events with --limit`);
    }
  }
  return { bytes: Buffer.concat(chunks), unreadable: unreadableIn(headers) };
}

/** The most events that an answer lacks, because the program cannot read them. */
export function unreadableIn(headers: HttpStream['headers']): number {
  return Number(headers['shield-incomplete'] ?? 0);
}

/** What a command says of an answer that lacks events; undefined where it lacks none. */
export function incompleteText(unreadable: number): string | undefined {
  const why = 'because files of the program are damaged or missing';
  return unreadable === 0
    ? undefined
    : `not everything is here: up to ${unreadable} events cannot be read, ${why}; shieldlog check names them`;
}

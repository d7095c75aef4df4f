import { accessKey, keyRefusal } from './access-key.ts';
import { learnTime, programAhead, programNow } from './program-clock.ts';

/** One thing that is wrong with a request. */
export interface FieldFault {
  /** The path in the request's body, such as `filters[0].value[2]`. */
  readonly field: string;
  readonly message: string;
}

/** What the page knows of a request that failed. */
export interface Failure {
  /** The status of the answer; 0 where none came. */
  readonly status: number;
  /** The program's `errorKey`, or `connection.lost`. */
  readonly key: string;
  readonly message: string;
  readonly faults: readonly FieldFault[];
}

/** A request that was not answered with a success. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

interface Call {
  readonly signal: AbortSignal;
  /** Sent as JSON by POST; absent: GET. */
  readonly body?: unknown;
  readonly accept?: string;
}

interface Request extends RequestInit {
  readonly headers: Readonly<Record<string, string>>;
}

/** Like `fetch`, with the access key. Where it is refused, {@link keyRefusal} says so. */
export async function fetchWithKey(path: string, { headers, ...init }: Request): Promise<Response> {
  const key = accessKey.peek();
  const answer = async (): Promise<Response> => {
    const response = await fetch(path, { ...init, headers: key === '' ? headers : { ...headers, AccessKey: key } });
    learnTime(response.headers.get('date'));
    return response;
  };
  const response = refusalOf(key) ?? (await answer());
  // The answer to a key that has been replaced meanwhile says nothing about the new one.
  if (key !== accessKey.peek()) return response;
  if (response.status === 401) keyRefusal.value = { message: (await failureOf(response.clone())).message };
  else if (response.ok) keyRefusal.value = null;
  return response;
}

/** A refusal in place of the program's where a key cannot even be sent; null where it can. No part of the key is shown. */
function refusalOf(key: string): Response | null {
  const at = key.search(/[^!-~]/);
  if (at === -1) return null;
  const detail = `Character ${at + 1} of the key is one that no key has; keys are of printable ASCII characters without blanks`;
  return Response.json({ errorKey: 'access.key_character', detail }, { status: 401 });
}

/** Sends a request with the access key. Throws {@link RequestFailed}, or the signal's reason where it aborts. */
export async function send(path: string, { signal, body, accept = 'application/json' }: Call): Promise<Response> {
  const headers: Record<string, string> = { accept };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init = body === undefined ? { headers, signal } : { method: 'POST', headers, body: JSON.stringify(body), signal };
  let response: Response;
  try {
    response = await fetchWithKey(path, init);
  } catch (error) {
    signal.throwIfAborted();
    throw new RequestFailed({
      status: 0,
      key: 'connection.lost',
      message: `The program cannot be reached: ${messageOf(error)}`,
      faults: [],
    });
  }
  if (!response.ok) throw new RequestFailed(await failureOf(response));
  return response;
}

/** The whole text of an answer, and its headers. Throws like {@link send}. */
export async function askWithHeaders(path: string, call: Call): Promise<{ readonly text: string; readonly headers: Headers }> {
  const response = await send(path, call);
  try {
    return { text: await response.text(), headers: response.headers };
  } catch (error) {
    call.signal.throwIfAborted();
    throw new RequestFailed({ status: 0, key: 'connection.lost', message: `The answer broke off: ${messageOf(error)}`, faults: [] });
  }
}

/** An answer of JSON. Throws like {@link send}. */
export async function ask<Answer>(path: string, call: Call): Promise<Answer> {
  return JSON.parse((await askWithHeaders(path, call)).text) as Answer;
}

/**
 * Asks what is to be known at the program's time. Where the answer, a refusal too, has told that the program's clock shows another time
 * than was thought, and the question is another one at that time, it is asked once more.
 */
export async function askUpToNow<Question, Answer>(
  questionAt: (now: number) => Question,
  ask: (question: Question) => Promise<Answer>,
): Promise<Answer> {
  const thought = programAhead();
  const question = questionAt(programNow());
  const [outcome] = await Promise.allSettled([ask(question)]);
  if (programAhead() !== thought) {
    const corrected = questionAt(programNow());
    if (JSON.stringify(corrected) !== JSON.stringify(question)) return ask(corrected);
  }
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

async function failureOf(response: Response): Promise<Failure> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const problem = problemIn(text);
  return {
    status,
    key: problem.errorKey ?? `status.${status}`,
    message: problem.detail ?? problem.title ?? `The program answered ${status}`,
    faults: problem.errors ?? [],
  };
}

interface Problem {
  readonly errorKey?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldFault[];
}

/** A proxy in between may answer anything. */
function problemIn(text: string): Problem {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

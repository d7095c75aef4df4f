import type { DropReason } from '../../query/plan/search-result.ts';
import { TAIL_TYPE } from '../state/tail-request.ts';
import { messageReader, type StreamMessage } from './event-stream.ts';
import type { StreamTurn } from './stream-turn.ts';

/** The pause before a lost connection is opened again, unless the program sets another. */
const RETRY_MS = 2_000;

/** The program sends something every 15 seconds. After such a silence the connection counts as lost. */
const SILENCE_MS = 45_000;

/** A tail that had no turn for longer than this is not read up on: it begins anew. */
const FORGET_MS = 5 * 60_000;

/**
 * How a tail is: being opened, waiting for other tabs, open, ended while its tab is hidden, lost and opened again after a pause, lost for
 * longer than the events are kept, or refused for good.
 */
export interface TailState {
  readonly kind: 'connecting' | 'queued' | 'watching' | 'hidden' | 'lost' | 'expired' | 'refused';
  readonly detail: string;
}

export interface WatchOptions {
  /** Waits until a stream may be open; calls `onWait` where other tabs have to end theirs first. Throws where `signal` aborts. */
  readonly takeTurn: (onWait: () => void) => Promise<StreamTurn>;
  /** Makes the request with these headers beside the access key. */
  readonly fetchStream: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;
  /** Gets each event as the JSON text of a row. */
  readonly onRow: (text: string) => void;
  readonly onDropped: (count: number, reason: DropReason) => void;
  readonly onState: (state: TailState) => void;
  /** Gets the begin and the end of a time whose events are left out, in milliseconds of `now`. */
  readonly onUnwatched: (from: number, to: number) => void;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** How long nothing may come before the connection counts as lost; 45 s unless set. */
  readonly silenceMs?: number;
}

/** The request is wrong as it is, so the tail is not opened again. */
class Refused extends Error {}

/** The events after the last id are no longer kept, or the program does not have the events up to it. */
class Expired extends Error {}

interface Problem {
  readonly detail: string;
  readonly oldestCursor: string | null;
}

/** The statuses of programs and proxies that do not read a request of that length. */
const TOO_LONG = [414, 431];

const TOO_LONG_WORDS =
  'the conditions are too long for a live tail, whose request takes some 16,000 characters. ' +
  'Take values away, or look for networks such as ip:198.51.100.0/24 in place of addresses';

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  const detail = `The program answered ${response.status}`;
  try {
    const problem: { detail?: unknown; oldestCursor?: unknown } = JSON.parse(text);
    return {
      detail: typeof problem.detail === 'string' ? problem.detail : detail,
      oldestCursor: typeof problem.oldestCursor === 'string' ? problem.oldestCursor : null,
    };
  } catch {
    // A proxy answers in its own words.
    return { detail, oldestCursor: null };
  }
}

/**
 * Watches a tail until `signal` aborts or the program refuses it. A lost connection is opened again behind the last event, as one is whose
 * turn was over; after a long wait for the next turn the tail begins anew.
 */
export async function watchTail(options: WatchOptions): Promise<void> {
  const { takeTurn, fetchStream, onRow, onDropped, onState, onUnwatched, now, signal, silenceMs = SILENCE_MS } = options;
  let lastId: string | null = null;
  let retryMs = RETRY_MS;

  function onMessage({ event, data }: StreamMessage): void {
    if (event === 'event') onRow(data);
    if (event === 'dropped') {
      const { count, reason } = JSON.parse(data);
      onDropped(count, reason);
    }
  }

  async function requireStream(response: Response): Promise<ReadableStream<Uint8Array>> {
    if (response.ok && response.body !== null) return response.body;
    if (TOO_LONG.includes(response.status)) throw new Refused(TOO_LONG_WORDS);
    const { detail, oldestCursor } = await problemOf(response);
    if (response.status === 416) {
      lastId = oldestCursor;
      throw new Expired(detail);
    }
    throw response.status >= 500 ? new Error(detail) : new Refused(detail);
  }

  async function nextTurn(): Promise<StreamTurn> {
    const from = now();
    const turn = await takeTurn(() => onState({ kind: 'queued', detail: '' }));
    const to = now();
    if (lastId !== null && to - from > FORGET_MS) {
      lastId = null;
      onUnwatched(from, to);
    }
    return turn;
  }

  async function watchOnce(turn: StreamTurn): Promise<void> {
    onState({ kind: 'connecting', detail: '' });
    const headers = { accept: TAIL_TYPE, ...(lastId === null ? {} : { 'last-event-id': lastId }) };
    const response = await fetchStream(headers, turn.signal);
    const stream = await requireStream(response);
    onState({ kind: 'watching', detail: '' });
    const read = messageReader({
      onMessage,
      onId: (id) => {
        lastId = id;
      },
      onRetry: (ms) => {
        retryMs = ms;
      },
    });
    const decoder = new TextDecoder();
    for await (const piece of piecesOf(stream, silenceMs)) read(decoder.decode(piece, { stream: true }));
    throw new Error('the program has ended the stream');
  }

  while (!signal.aborted) {
    let turn: StreamTurn | undefined;
    try {
      turn = await nextTurn();
      await watchOnce(turn);
    } catch (error) {
      if (signal.aborted) return;
      const state = stateAfter(error, turn);
      onState(state);
      if (state.kind === 'refused') return;
      if (state.kind === 'hidden') continue;
    } finally {
      turn?.end();
    }
    await pause(retryMs, signal);
  }
}

function stateAfter(error: unknown, turn: StreamTurn | undefined): TailState {
  if (turn?.signal.aborted) return { kind: 'hidden', detail: '' };
  const kind = error instanceof Refused ? 'refused' : error instanceof Expired ? 'expired' : 'lost';
  return { kind, detail: error instanceof Error ? error.message : String(error) };
}

/** The pieces of a stream. Throws when none has come for `silenceMs`. */
async function* piecesOf(stream: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const silence = new Error(`nothing has come for ${Math.round(silenceMs / 1000)} s`);
  let isSilent = false;
  const giveUp = (): void => {
    isSilent = true;
    void reader.cancel(silence);
  };
  let timer = setTimeout(giveUp, silenceMs);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer);
      yield piece.value;
      timer = setTimeout(giveUp, silenceMs);
    }
  } finally {
    clearTimeout(timer);
  }
  if (isSilent) throw silence;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
  });
}

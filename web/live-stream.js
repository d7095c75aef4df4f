// The live tail as a stream. EventSource cannot send the access key, so it is read by hand.
import { parseExactly } from './exact-json.js';

/** How long a connection that was lost is left alone, where the program does not say. */
const RETRY_MS = 2_000;

/**
 * Reads server-sent events out of text that comes in pieces, cut anywhere. Calls `onMessage({event, data})` for each message that has data, `onId` with
 * the id of each that is whole, and `onRetry` (milliseconds).
 */
export function messageReader({ onMessage, onId, onRetry }) {
  const empty = { event: 'message', data: [], id: null };
  let rest = '';
  let message = empty;

  function endMessage() {
    const { event, data, id } = message;
    message = empty;
    // Not before the message is whole: one that is cut off is asked for again.
    if (data.length > 0) onMessage({ event, data: data.join('\n') });
    if (id !== null) onId(id);
  }

  function readLine(line) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === 'data') message = { ...message, data: [...message.data, value] };
    else if (name === 'event' || name === 'id') message = { ...message, [name]: value };
    else if (name === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
  }

  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') endMessage();
      else readLine(line);
    }
  };
}

/** Why a tail is not tried again: what was asked for is wrong. */
class Refused extends Error {}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return { oldestCursor: problem.oldestCursor, detail: problem.detail ?? `The program answered ${response.status}` };
}

/**
 * Watches a tail until `signal` aborts or the program refuses it, and comes back by itself when the connection is lost. Calls `onRow`, `onDropped(count)`
 * and `onState(text, failed)`. `fetchStream(headers)` makes the request.
 */
export async function watchTail({ fetchStream, onRow, onDropped, onState, signal }) {
  let lastId = null;
  let retryMs = RETRY_MS;

  const handlers = {
    onMessage({ event, data }) {
      if (event === 'event') onRow(parseExactly(data));
      else if (event === 'dropped') onDropped(JSON.parse(data).count);
    },
    onId: (id) => {
      lastId = id;
    },
    onRetry: (ms) => {
      retryMs = ms;
    },
  };

  async function watchOnce() {
    const response = await fetchStream({ accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) });
    if (response.status === 416) {
      const { detail, oldestCursor } = await refusal(response);
      lastId = oldestCursor ?? null;
      throw new Error(detail);
    }
    if (!response.ok) {
      const { detail } = await refusal(response);
      throw response.status >= 500 ? new Error(detail) : new Refused(detail);
    }
    onState('watching', false);
    const read = messageReader(handlers);
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) read(decoder.decode(piece.value, { stream: true }));
  }

  while (!signal.aborted) {
    try {
      await watchOnce();
      if (!signal.aborted) onState('the program has ended the stream; coming back', true);
    } catch (error) {
      if (signal.aborted) return;
      onState(error.message, true);
      if (error instanceof Refused) return;
    }
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, retryMs);
      signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}

// Reads the live tail as a stream of server-sent events. EventSource cannot send the access key.
import { parseExactly } from './exact-json.js';

/** The pause before a lost connection is opened again, unless the program sets another. */
const RETRY_MS = 2_000;

/**
 * Returns a function that reads server-sent events from pieces of text, which may be cut anywhere. It calls `onMessage({event, data})` for
 * each message with data, `onId` with the id of each complete message, and `onRetry` with milliseconds.
 */
export function messageReader({ onMessage, onId, onRetry }) {
  const empty = { event: 'message', data: [], id: null };
  let rest = '';
  let message = empty;

  function endMessage() {
    const { event, data, id } = message;
    message = empty;
    // The id counts only now, so that a message that was cut off is requested again.
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

/** The request was wrong, so the tail is not opened again. */
class Refused extends Error {}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return { oldestCursor: problem.oldestCursor, detail: problem.detail ?? `The program answered ${response.status}` };
}

/**
 * Watches a tail until `signal` aborts or the program refuses it, and opens it again when the connection is lost. Calls `onRow`,
 * `onDropped(count)` and `onState(text, failed)`. `fetchStream(headers)` makes the request.
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

/** A message of a stream of server-sent events. */
export interface StreamMessage {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

export interface StreamHandlers {
  readonly onMessage: (message: StreamMessage) => void;
  /** Gets the id of each complete message, also of one without data. */
  readonly onId: (id: string) => void;
  /** Gets the pause before the stream is opened again, in milliseconds. */
  readonly onRetry: (ms: number) => void;
}

interface OpenMessage {
  readonly event: string;
  readonly data: readonly string[];
  readonly id: string | null;
}

const EMPTY: OpenMessage = { event: 'message', data: [], id: null };

/**
 * Returns a function that reads server-sent events from pieces of text, which may be cut anywhere. EventSource reads them, too, but cannot
 * send an access key.
 */
export function messageReader({ onMessage, onId, onRetry }: StreamHandlers): (piece: string) => void {
  /** The line that is not complete, in pieces: a long one is not copied again for each of them. */
  let rest: string[] = [];
  let message = EMPTY;

  function endMessage(): void {
    const { event, data, id } = message;
    message = EMPTY;
    // The id counts only now, so that a message that was cut off is requested again.
    if (data.length > 0) onMessage({ event, data: data.join('\n') });
    if (id !== null) onId(id);
  }

  function readLine(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') message = { ...message, data: [...message.data, value] };
    else if (name === 'event' || name === 'id') message = { ...message, [name]: value };
    else if (name === 'retry' && /^\d+$/.test(value)) onRetry(Number(value));
  }

  return (piece) => {
    const lines = piece.split('\n');
    for (const end of lines.slice(0, -1)) {
      const line = rest.join('') + end;
      rest = [];
      if (line === '') endMessage();
      else readLine(line);
    }
    rest.push(lines.at(-1) ?? '');
  };
}
